// A question before something is done: what it would touch, a reason, and two ways out.

import { h } from './dom.js';

// ask shows a dialog. act(reason) does what it asks about and may throw, which is shown and leaves it open. It resolves
// to true once act has succeeded, to false when the person thinks better of it.
export function ask({ title, text, lines, verb, danger, act }) {
  return new Promise((resolve) => {
    const reason = h('input', { name: 'reason', maxlength: 2000, autocomplete: 'off', placeholder: 'kept with the decision' });
    const said = h('p', { class: 'notice bad', role: 'alert', hidden: true });
    const go = h('button', { class: danger ? 'danger' : 'main' }, verb);
    const stay = h('button', { type: 'button', onclick: () => box.close() }, 'Cancel');
    const form = h('form', null, h('h2', null, title), h('p', null, text), lines, said,
      h('label', null, 'Reason', reason), h('div', { class: 'ways' }, stay, go));
    const box = h('dialog', { 'aria-label': title }, form);
    let done = false;
    form.onsubmit = async (e) => {
      e.preventDefault();
      go.disabled = true;
      try {
        await act(reason.value.trim());
        done = true;
        box.close();
      } catch (error) {
        said.textContent = `Not done: ${error.message}.`;
        said.hidden = false;
        go.disabled = false;
      }
    };
    box.addEventListener('close', () => {
      box.remove();
      resolve(done);
    });
    document.body.append(box);
    box.showModal();
    reason.focus();
  });
}
