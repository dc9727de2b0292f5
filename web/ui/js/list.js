// The list of experiences: four pools, filters, pages.

import { get } from './api.js';
import { h, put } from './dom.js';
import { ago, amount, exact, meaning, pool, words } from './format.js';
import { mini } from './trust.js';

export const POOLS = {
  all: { name: 'All', path: 'experiences', query: {}, empty: ['No experiences yet', 'Agents record trajectories with POST /v1/trajectories; what is worth keeping is distilled and shows up here.'] },
  own: { name: 'Own', path: 'experiences', query: { pool: 'own' }, empty: ['Your own pool is empty', 'Experiences that this key’s agent records are private to it until they prove themselves.'] },
  candidates: { name: 'Candidates', path: 'experiences', query: { pool: 'candidates' }, empty: ['Nothing is on trial', 'An experience that served its own author well is nominated and shown to jurors of other principals.'] },
  meta: { name: 'Meta-pool', path: 'meta', query: {}, empty: ['Nothing has been promoted yet', 'A candidate is promoted when jurors of other principals report that it helped them.'] },
};
const KINDS = ['success', 'failure', 'contrast', 'tool_use', 'reflection', 'caution', 'direct'];
const STATUSES = ['active', 'buffered', 'candidate', 'promoted', 'demoted', 'dormant', 'held', 'quarantined', 'archived', 'revoked', 'superseded'];

const choice = (name, label, values, value) => h('select', { name, 'aria-label': label },
  h('option', { value: '' }, label), values.map((v) => h('option', { value: v, selected: v === value }, words(v))));

// showList draws a pool into el; view = {pool, filters} is kept by the caller. It returns a function that reads again.
export function showList(el, view, failed) {
  const here = POOLS[view.pool];
  const f = view.filters;
  const form = h('form', { class: 'filters', role: 'search', 'aria-label': 'Filters' },
    h('input', { type: 'search', name: 'q', placeholder: 'Search words  ( / )', 'aria-label': 'Search words', value: f.q, maxlength: 1000 }),
    h('input', { class: 'short', name: 'task_type', placeholder: 'Task type', 'aria-label': 'Task type', value: f.task_type, pattern: '[A-Za-z0-9._\\-]*', maxlength: 64 }),
    choice('kind', 'Any kind', KINDS, f.kind),
    choice('status', 'Any status', STATUSES, f.status));
  const body = h('div', { 'aria-live': 'polite', 'aria-busy': 'true' });
  put(el,
    h('div', { class: 'bar' },
      h('nav', { class: 'tabs', 'aria-label': 'Pools' }, Object.entries(POOLS).map(([id, p]) => h('a', { href: '#/' + id, 'aria-current': id === view.pool ? 'page' : null }, p.name))),
      form),
    body);

  let items = [];
  let asked = 0;
  async function load(cursor) {
    const mine = ++asked;
    try {
      const page = await get(here.path, { ...here.query, ...f, limit: 50, cursor });
      if (mine !== asked) return;
      items = cursor ? [...items, ...page.items] : page.items;
      draw(page.next_cursor);
    } catch (e) {
      if (mine === asked) failed(body, e, () => load(cursor));
    }
    body.setAttribute('aria-busy', 'false');
  }

  function draw(next) {
    if (!items.length) {
      const filtered = Object.values(f).some(Boolean);
      const [title, text] = filtered ? ['Nothing matches', 'No experience of this pool fits these filters.'] : here.empty;
      put(body, h('p', { class: 'empty' }, h('strong', null, title), text));
      return;
    }
    put(body,
      h('div', { class: 'scroll' }, h('table', { class: 'rows' },
        h('thead', null, h('tr', null, ['Experience', 'Status', 'Trust', 'Helped', 'Author', 'Updated'].map((t, i) => h('th', { scope: 'col', class: i === 3 ? 'num' : null }, t)))),
        h('tbody', null, items.map(row)))),
      next && h('div', { class: 'more' }, h('button', { type: 'button', onclick: () => load(next) }, 'Show more')));
  }

  let typing = 0;
  form.addEventListener('submit', (e) => e.preventDefault());
  form.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      if (!form.reportValidity()) return;
      Object.assign(f, Object.fromEntries(new FormData(form)));
      load();
    }, 250);
  });
  load();
  return () => (items.length > 50 ? null : load());
}

function row(e) {
  return h('tr', null,
    h('td', { class: 'lead' }, h('a', { href: '#/e/' + e.id }, e.scenario), h('p', null, e.content)),
    h('td', { class: 'tight' }, h('span', { class: 'chip ' + meaning(e.status) }, e.status), h('div', { class: 'soft' }, words(e.kind))),
    h('td', { class: 'tight' }, mini(e.trust, e.status)),
    h('td', { class: 'num', title: 'times it helped / times it was recalled' }, `${amount(e.utility.helped)} / ${amount(e.utility.recalled)}`),
    h('td', { class: 'tight' }, e.author.agent, h('div', { class: 'soft' }, e.pool === 'meta' || e.pool === 'candidates' ? e.author.principal : pool(e.pool).replace(/ to .*/, ''))),
    h('td', { class: 'tight' }, h('time', { datetime: e.updated_at, title: exact(e.updated_at) }, ago(e.updated_at))));
}
