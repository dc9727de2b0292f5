// Elements without a framework: h and s make them, put replaces what is inside one. Text is always text, never markup.

const SVG = 'http://www.w3.org/2000/svg';

function fill(el, attrs, children) {
  for (const [name, value] of Object.entries(attrs ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) el.addEventListener(name.slice(2), value);
    else el.setAttribute(name, value === true ? '' : value);
  }
  el.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return el;
}

export const h = (tag, attrs, ...children) => fill(document.createElement(tag), attrs, children);
export const s = (tag, attrs, ...children) => fill(document.createElementNS(SVG, tag), attrs, children);
export const put = (el, ...children) => {
  el.replaceChildren();
  return fill(el, null, children);
};
export const byId = (id) => document.getElementById(id);
export const short = (text, n) => (text.length > n ? text.slice(0, n - 1).trimEnd() + '…' : text);
