// What waits for people: signs to look at, and promotions that a curator must answer.

import { get } from './api.js';
import { answers, curates, watches } from './curate.js';
import { h, put } from './dom.js';
import { ago, score, words } from './format.js';

const PATIENCE = 60000; // alerts are computed from all evidence, so they are not asked for at every event
const SHOWN = 10;

// showDesk keeps el up to date; it is hidden while there is nothing. The function it returns reads again.
export function showDesk(el, me, changed) {
  let alerts = [], pending = [], asked = 0;
  el.hidden = true;
  if (!watches(me)) return () => {};

  async function load(now) {
    const wanted = now || Date.now() - asked > PATIENCE;
    if (wanted) asked = Date.now();
    const [a, p] = await Promise.allSettled([wanted ? get('alerts') : null, get('promotions', { status: 'pending', limit: SHOWN })]);
    if (wanted && a.status === 'fulfilled') alerts = a.value.items;
    if (p.status === 'fulfilled') pending = await named(p.value.items);
    draw();
  }

  function draw() {
    const open = el.querySelector('details')?.open;
    el.hidden = !alerts.length && !pending.length;
    put(el, waiting(), signs(open));
  }

  const waiting = () => pending.length > 0 && h('div', { class: 'waiting' },
    h('h2', null, pending.length === 1 ? 'One promotion waits for a curator' : `${pending.length}${pending.length === SHOWN ? ' or more' : ''} promotions wait for a curator`),
    h('ul', null, pending.map(([p, e]) => h('li', null,
      h('a', { href: '#/e/' + p.experience }, e?.scenario ?? p.experience),
      h('span', { class: 'soft num' }, [e?.trust && `trust ${score(e.trust.value)}`, `by ${p.author.agent}`, ago(p.at)].filter(Boolean).join(' · ')),
      curates(me) && h('span', { class: 'ways' }, answers(p, () => { load(); changed(); }))))));

  const signs = (open) => alerts.length > 0 && h('details', { open },
    h('summary', null, h('span', { class: 'dot ' + worst(alerts) }), h('b', null, alerts.length === 1 ? '1 alert' : `${alerts.length} alerts`),
      h('span', { class: 'soft' }, gist(alerts))),
    h('ul', null, alerts.map((a) => h('li', null,
      h('span', { class: 'chip ' + (a.severity === 'info' ? '' : a.severity === 'critical' ? 'bad' : 'trial') }, words(a.kind)),
      h('span', null, a.detail.replaceAll('principal:', '')),
      h('span', { class: 'soft num' }, `${score(a.value)}, limit ${score(a.limit)}`),
      a.experiences.slice(0, 5).map((id, i) => h('a', { href: '#/e/' + id, title: id }, `item ${i + 1}`))))));

  load(true);
  return load;
}

const bare = (name) => name.replace(/^principal:/, '');

// gist names each kind once, with everyone it is about.
function gist(alerts) {
  const kinds = new Map();
  for (const a of alerts) kinds.set(a.kind, [...(kinds.get(a.kind) ?? []), ...a.members.map(bare)]);
  return [...kinds].map(([kind, who]) => words(kind) + (who.length ? ' of ' + [...new Set(who)].join(', ') : '')).join(' · ');
}

const worst = (alerts) => (alerts.some((a) => a.severity === 'critical') ? 'bad' : 'wait');

// named adds the experience to each decision; one that cannot be read is shown by its id.
async function named(list) {
  const found = await Promise.allSettled(list.map((p) => get('experiences/' + encodeURIComponent(p.experience))));
  return list.map((p, i) => [p, found[i].value]);
}
