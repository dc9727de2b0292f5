// One experience: what it says, why it is trusted, where it came from.

import { get } from './api.js';
import { actions, answers, curates } from './curate.js';
import { h, put } from './dom.js';
import { ago, amount, exact, meaning, pool, score, words } from './format.js';
import { lineage } from './lineage.js';
import { trustBlock } from './trust.js';

const shared = (e) => e.pool === 'meta' || e.pool === 'candidates';

// showDetail draws an experience into el for the person me. It returns a function that reads it again when it is among
// the ids that changed. changed tells the rest of the page about what was done here.
export function showDetail(el, id, { back, me, failed, changed }) {
  const body = h('div', { class: 'detail' }, h('p', { class: 'soft' }, 'Loading'));
  const tools = h('span', { class: 'tools' });
  put(el, h('div', { class: 'bar' }, h('a', { href: back }, '← Experiences'), h('span', { class: 'soft push' }, h('code', null, id)), tools), body);
  const done = () => { load(); changed(); };
  async function load() {
    const at = 'experiences/' + encodeURIComponent(id);
    try {
      const e = await get(at);
      const [trust, graph, history, waiting] = await Promise.allSettled([get(at + '/trust'), get(at + '/provenance'), get(at + '/history'), pending(e, me)]);
      const open = body.querySelector('details')?.open;
      put(tools, actions(e, me, done));
      put(body, waits(waiting.value, done), text(e),
        part(trust, 'Trust', (d) => trustBlock(d, shared(e))),
        part(graph, 'Lineage', (g) => h('section', { class: 'block' }, h('h2', null, 'Lineage'), lineage(g, id))),
        h('section', { class: 'block' }, h('h2', null, 'Record'), facts(e)),
        part(history, 'Versions', (l) => versions(l.items, e.version)));
      if (open) body.querySelector('details')?.setAttribute('open', '');
    } catch (err) {
      failed(body, err, load);
    }
  }
  load();
  return (ids) => (!ids || ids.has(id) ? load() : null);
}

// pending finds the promotion of e that waits for a curator.
async function pending(e, me) {
  if (!curates(me) || e.status !== 'candidate') return null;
  const list = await get('promotions', { status: 'pending', limit: 500 });
  return list.items.find((p) => p.experience === e.id);
}

const waits = (p, done) => p && h('p', { class: 'notice asks' }, h('span', null, 'It fulfils the rule and waits for a curator.'), h('span', { class: 'ways' }, answers(p, done)));

// part shows one answer, or in words why it is not there; the others stay.
function part(result, title, draw) {
  if (result.status === 'fulfilled') return draw(result.value);
  return h('section', { class: 'block' }, h('h2', null, title), h('p', { class: 'soft' }, 'Not shown: ' + result.reason.message));
}

function text(e) {
  return h('section', null,
    h('p', { class: 'chips' },
      h('span', { class: 'chip ' + meaning(e.status) }, e.status), h('span', { class: 'chip' }, words(e.kind)), h('span', { class: 'chip' }, pool(e.pool)),
      e.label && h('span', { class: 'chip trial', title: 'Judged by agents of one principal' }, words(e.label)),
      h('span', { class: 'byline soft num' }, [
        `by ${e.author.agent} of ${e.author.principal}`, e.task_type && words(e.task_type), `helped in ${amount(e.utility.helped)} of ${amount(e.utility.recalled)} recalls`, ago(e.created_at),
      ].filter(Boolean).join(' · '))),
    h('h1', null, e.scenario),
    h('p', { class: 'lesson' }, e.content));
}

const fact = (name, value, title) => (value === '' || value === false || value === null || value === undefined ? null
  : h('div', null, h('dt', { title }, name), h('dd', { class: 'num' }, value)));
const pairs = (m) => Object.entries(m ?? {}).map(([k, v]) => `${k} = ${v}`).join(', ');

function facts(e) {
  return h('dl', { class: 'facts' },
    fact('Tools', (e.tools ?? []).length ? h('span', { class: 'mono' }, e.tools.join(', ')) : '–'),
    fact('Task type', e.task_type || '–'),
    fact('Distilled from', e.support.success + e.support.failure > 0 ? `${e.support.success} succeeded, ${e.support.failure} failed` : ''),
    fact('Surprise (RPE)', score(e.rpe), 'Actual minus expected reward when it was recorded'),
    fact('Strength', score(e.strength), 'Halves in 30 days without use'),
    fact('Confidence', score(e.confidence)),
    fact('Recorded', exact(e.created_at)),
    fact('Updated', e.updated_at !== e.created_at && exact(e.updated_at)),
    fact('Keywords', (e.keywords ?? []).join(', ')),
    fact('Only when', pairs(e.preconditions)),
    fact('Valid until', e.valid_until && exact(e.valid_until)),
    fact('Shared copy', e.candidate_id && h('a', { href: '#/e/' + e.candidate_id }, 'open')),
    fact('Superseded by', e.superseded_by && h('a', { href: '#/e/' + e.superseded_by }, 'open')));
}

function versions(items, current) {
  if (!items || items.length < 2) return null;
  return h('section', { class: 'block' }, h('h2', null, 'Versions'),
    h('div', { class: 'scroll' }, h('table', null, h('tbody', null, items.map((v) => h('tr', null,
      h('td', { class: 'tight num' }, v.version + (v.version === current ? ' (current)' : '')),
      h('td', { class: 'lead' }, v.scenario, h('p', null, v.content)),
      h('td', { class: 'tight' }, exact(v.updated_at))))))));
}
