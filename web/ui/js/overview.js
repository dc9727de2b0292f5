// The row of counts and the line about the cluster.

import { h, put, s } from './dom.js';
import { count, percent, score } from './format.js';

const sum = (m) => Object.values(m ?? {}).reduce((a, b) => a + b, 0);

const stat = (name, value, note, extra) => h('div', { class: 'stat' }, h('h3', null, name), h('b', null, value), extra, h('span', null, note));

// split is a bar of parts, largest meaning first.
function split(parts) {
  const total = parts.reduce((a, [n]) => a + n, 0);
  if (!total) return null;
  let x = 0;
  return s('svg', { class: 'split', viewBox: '0 0 100 6', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, parts.map(([n, cls]) => {
    const width = (100 * n) / total;
    const part = s('rect', { class: cls, x, y: 0, width, height: 6 });
    x += width;
    return part;
  }));
}

const many = (n, one, more) => `${count(n)} ${n === 1 ? one : more}`;
const notes = (...parts) => parts.filter(Boolean).join(' · ');

export function showStats(el, st) {
  const pools = st.pools ?? {}, routes = st.gate_routes ?? {}, counters = st.counters ?? {}, ratios = st.ratios ?? {};
  const own = pools.own ?? 0, shelf = pools.candidates ?? 0, meta = pools.meta ?? 0;
  put(el,
    stat('Agents', count(st.agents), many(st.principals, 'principal', 'principals')),
    stat('Experiences', count(own + shelf + meta || sum(st.experiences)), `${count(own)} private · ${count(shelf)} on trial · ${count(meta)} shared`,
      split([[meta, 'part-a'], [shelf, 'part-b'], [own, 'part-c']])),
    stat('Gate', count(sum(routes)), `${count(routes.long_term)} keep · ${count(routes.buffer)} buffer · ${count(routes.discard)} drop`,
      split([[routes.long_term ?? 0, 'part-a'], [routes.buffer ?? 0, 'part-b'], [routes.discard ?? 0, 'part-c']])),
    stat('Recalls', count(counters.recalls), counters.recalls > 0 ? `${percent(ratios.hit_rate)} found something` : 'none yet'),
    stat('Outcomes', count(counters.outcomes), notes('mean_reward' in ratios && `mean reward ${score(ratios.mean_reward)}`, many(counters.citations ?? 0, 'citation', 'citations'))),
    stat('Promotions', count(counters.promotions), `${count(counters.nominations)} nominated · ${count(counters.demotions)} demoted`));
}

// tail shortens an id to the end that tells it apart; the title has all of it.
const tail = (id) => (id.length > 14 ? '…' + id.slice(-6) : id);

export function showCluster(el, c) {
  const sick = c.nodes.filter((n) => !n.healthy).length;
  const applied = Math.max(0, ...c.nodes.map((n) => n.applied));
  const state = !c.leader ? ['bad', 'no leader: reads go on, writes wait'] : sick ? ['wait', `${sick} of ${c.nodes.length} nodes unhealthy`] : ['good', c.nodes.length === 1 ? '1 node healthy' : `${c.nodes.length} nodes healthy`];
  const lag = Math.max(0, ...c.nodes.map((n) => n.lag));
  put(el, h('span', { class: 'dot ' + state[0] }), [`site ${tail(c.site)}`, state[1], c.leader && `leader ${tail(c.leader)}`, `applied ${count(applied)}`, lag > 0 && `lag ${count(lag)}`].filter(Boolean).join(' · '));
  el.title = `site ${c.site}\n` + c.nodes.map((n) => `${n.id} ${n.role} ${n.address} applied ${n.applied}`).join('\n');
}
