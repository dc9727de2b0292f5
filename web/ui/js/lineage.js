// The lineage as a drawing: causes on the left, what came of them on the right.

import { h, s, short } from './dom.js';
import { words } from './format.js';

const W = 154, H = 40, GAPX = 38, GAPY = 10, PER_COLUMN = 8, LEAST = 0.8;

// ranks gives each node its column. An edge points from effect to cause, and every cause stands left of all its effects.
function ranks(graph, root) {
  const rank = new Map([[root, 0]]);
  const queue = [root];
  while (queue.length) {
    const at = queue.shift();
    for (const e of graph.edges) {
      const next = e.from === at ? [e.to, rank.get(at) - 1] : e.to === at ? [e.from, rank.get(at) + 1] : null;
      if (next && !rank.has(next[0])) {
        rank.set(...next);
        queue.push(next[0]);
      }
    }
  }
  for (let pass = 0, moved = true; moved && pass < graph.nodes.length; pass++) {
    moved = false;
    for (const e of graph.edges) {
      if (rank.has(e.from) && rank.get(e.to) >= rank.get(e.from)) {
        rank.set(e.to, rank.get(e.from) - 1);
        moved = true;
      }
    }
  }
  return rank;
}

const order = { entity: 0, activity: 1, agent: 2 };

// columns sorts the nodes: by kind, then by the middle of what they lead to, which keeps most lines from crossing.
function columns(graph, rank) {
  const by = new Map();
  for (const n of graph.nodes) {
    const r = rank.get(n.id) ?? 0;
    by.set(r, [...(by.get(r) ?? []), n]);
  }
  const place = new Map();
  const middle = (n) => {
    const near = graph.edges.filter((e) => e.to === n.id && place.has(e.from)).map((e) => place.get(e.from));
    return near.length ? near.reduce((a, b) => a + b, 0) / near.length : 0;
  };
  const out = [...by.keys()].sort((a, b) => b - a).map((r) => {
    const nodes = by.get(r).map((n) => [n, middle(n)]).sort(([a, x], [b, y]) => order[a.type] - order[b.type] || x - y).map(([n]) => n);
    nodes.forEach((n, i) => place.set(n.id, i - nodes.length / 2));
    if (nodes.length <= PER_COLUMN) return nodes;
    const rest = nodes.length - PER_COLUMN + 1;
    return [...nodes.slice(0, PER_COLUMN - 1), { id: 'rest:' + r, type: 'entity', label: `${rest} more`, attributes: {} }];
  });
  return out.reverse();
}

const kindOf = (n) => (n.id.includes(':') ? n.id.slice(0, n.id.indexOf(':')) : n.type);

function box(n, at, here) {
  const note = [words(kindOf(n)), n.attributes?.status || n.attributes?.lens || n.attributes?.task_type].filter(Boolean).join(' · ');
  const shape = s('g', { class: n.type + (here ? ' here' : ''), transform: `translate(${at.x} ${at.y})` },
    s('title', null, `${n.label}\n${Object.entries(n.attributes ?? {}).map(([k, v]) => `${k}: ${v}`).join('\n')}`),
    s('rect', { width: W, height: H, rx: n.type === 'agent' ? H / 2 : n.type === 'activity' ? 2 : 8 }),
    s('text', { x: 12, y: 17 }, short(n.label || n.id, 20)),
    s('text', { class: 'faint', x: 12, y: 32 }, short(note, 23)));
  const link = !here && /^experience:(.+)$/.exec(n.id);
  return link ? s('a', { href: '#/e/' + link[1] }, shape) : shape;
}

function edge(e, places) {
  const from = places.get(e.from), to = places.get(e.to);
  if (!from || !to) return null;
  const right = from.x > to.x;
  const x1 = right ? from.x : from.x + W / 2, y1 = right ? from.y + H / 2 : from.y + H;
  const x2 = right ? to.x + W : to.x + W / 2, y2 = right ? to.y + H / 2 : to.y;
  const bend = right ? Math.max((x1 - x2) / 2, 20) : 0;
  return s('path', { d: `M${x1} ${y1} C${x1 - bend} ${y1} ${x2 + bend} ${y2} ${x2} ${y2}`, 'marker-end': 'url(#arrow)' },
    s('title', null, words(e.relation.replace(/([A-Z])/g, ' $1').toLowerCase())));
}

export function lineage(graph, id) {
  const root = graph.nodes.find((n) => n.id === 'experience:' + id) ?? graph.nodes[0];
  if (!root) return h('p', { class: 'soft' }, 'Nothing is known about where it came from.');
  const cols = columns(graph, ranks(graph, root.id));
  const height = Math.max(...cols.map((c) => c.length)) * (H + GAPY) - GAPY;
  const places = new Map();
  cols.forEach((col, i) => {
    const top = (height - col.length * (H + GAPY) + GAPY) / 2;
    col.forEach((n, j) => places.set(n.id, { x: 4 + i * (W + GAPX), y: 4 + top + j * (H + GAPY) }));
  });
  const width = 8 + cols.length * (W + GAPX) - GAPX;
  const drawing = s('svg', { class: 'graph', viewBox: `0 0 ${width} ${height + 8}`, role: 'img', 'aria-label': `${graph.nodes.length} things and ${graph.edges.length} relations` },
    s('defs', null, s('marker', { id: 'arrow', viewBox: '0 0 8 8', refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' }, s('path', { d: 'M0 0 L8 4 L0 8 z' }))),
    graph.edges.map((e) => edge(e, places)),
    cols.flat().map((n) => box(n, places.get(n.id), n.id === root.id)));
  drawing.style.maxWidth = width + 'px'; // it shrinks a little to fit, then scrolls
  drawing.style.minWidth = width * LEAST + 'px';
  const frame = h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Lineage' }, drawing);
  const here = places.get(root.id);
  if (here) requestAnimationFrame(() => { frame.scrollLeft = (here.x + W / 2) * drawing.clientWidth / width - frame.clientWidth / 2; });
  return h('div', null, frame,
    h('p', { class: 'key' }, h('span', null, h('i'), 'thing'), h('span', null, h('i', { class: 'activity' }), 'activity'), h('span', null, h('i', { class: 'agent' }), 'agent'), 'arrows lead to where a thing came from'));
}
