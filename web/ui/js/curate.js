// What a curator does to an experience: hold, release, revoke, and answer a promotion that waits.

import { ask } from './ask.js';
import { get, post } from './api.js';
import { h, short } from './dom.js';
import { meaning } from './format.js';

const has = (me, ...roles) => (me.roles ?? []).some((r) => roles.includes(r));
export const curates = (me) => has(me, 'curator', 'admin');
export const watches = (me) => has(me, 'curator', 'admin', 'auditor');

const LIVE = ['active', 'buffered', 'candidate', 'promoted', 'dormant'];
const ACTIONS = {
  hold: { name: 'Hold', may: (e) => LIVE.includes(e.status), text: 'It leaves every recall, with what was derived from it, until it is released.' },
  release: { name: 'Release', may: (e) => e.status === 'held' || e.status === 'quarantined', text: 'It goes back to where it was; a quarantined copy goes to a jury.' },
  revoke: { name: 'Revoke', may: (e) => e.status !== 'revoked', danger: true, text: 'It is called back for good, with what was derived from it. Agents that were given it are told at their next recall.' },
};

// actions are the buttons that fit an experience and the person; an author may revoke its own.
export function actions(e, me, done) {
  return Object.entries(ACTIONS)
    .filter(([id, a]) => a.may(e) && (curates(me) || (id === 'revoke' && e.author.agent === me.id)))
    .map(([id, a]) => h('button', { type: 'button', class: a.danger ? 'danger quiet' : null, onclick: (ev) => preview(ev.currentTarget, e, id, a, done) }, a.name + '…'));
}

// preview asks the node what would change and shows that first.
async function preview(button, e, id, action, done) {
  button.disabled = true;
  const at = `experiences/${encodeURIComponent(e.id)}/${id}`;
  try {
    const plan = await post(at, { dry_run: true });
    const lines = await consequences(plan);
    if (await ask({
      title: `${action.name} this experience?`, text: action.text, lines, verb: action.name, danger: action.danger,
      act: (reason) => post(at, reason ? { reason } : {}),
    })) done();
  } catch (error) {
    button.after(h('span', { class: 'soft', role: 'alert' }, ` ${error.message}`));
  }
  button.disabled = false;
}

const NAMED = 8;

async function consequences(plan) {
  const found = await Promise.allSettled(plan.closes.slice(0, NAMED).map((id) => get('experiences/' + encodeURIComponent(id))));
  const rest = plan.closes.length - NAMED;
  return h('dl', { class: 'plan' },
    h('dt', null, plan.closes.length ? `Derived, and follows (${plan.closes.length})` : 'Derived from it'),
    plan.closes.length === 0 ? h('dd', { class: 'soft' }, 'nothing that would follow')
      : found.map((f, i) => h('dd', null, f.status === 'fulfilled' ? [h('span', { class: 'chip ' + meaning(f.value.status) }, f.value.status), ' ', short(f.value.scenario, 90)] : h('code', null, plan.closes[i]))),
    rest > 0 && h('dd', { class: 'soft' }, `and ${rest} more`),
    h('dt', null, `Was given to (${plan.notifies.length})`),
    h('dd', null, plan.notifies.length ? plan.notifies.join(', ') : h('span', { class: 'soft' }, 'nobody')));
}

// answers are the two buttons of a promotion that waits.
export function answers(p, done) {
  const button = (verb, name, text) => h('button', { type: 'button', class: verb === 'approve' ? 'main' : null, onclick: async () => {
    const yes = await ask({ title: `${name} this promotion?`, text, verb: name, danger: verb === 'reject', act: (reason) => post(`promotions/${encodeURIComponent(p.id)}/${verb}`, reason ? { reason } : {}) });
    if (yes) done();
  } }, name);
  return [button('approve', 'Approve', 'Every agent of the namespace will be given it.'), button('reject', 'Reject', 'It does not enter the meta-pool in this version.')];
}
