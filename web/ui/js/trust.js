// Drawings of trust: the interval on a line from 0 to 1, the value that decides, and the marks it is held against.

import { h, s } from './dom.js';
import { amount, score } from './format.js';

const PROMOTE = 0.48;
const standing = (value, up, down) => (value >= up ? 'good' : value < down ? 'bad' : '');

// mini is the small bar of a table cell.
export function mini(trust, status) {
  if (!trust) return h('span', { class: 'soft', title: 'Private: judged by its own record' }, 'private');
  const kind = trust.value >= PROMOTE ? 'good' : status === 'dormant' ? 'bad' : '';
  const x = (v) => 1 + 86 * v;
  return h('div', { title: `trust ${score(trust.value)}, interval ${score(trust.low)} to ${score(trust.high)}, ${trust.trials} citations` },
    h('span', { class: 'num' }, score(trust.value)),
    s('svg', { class: 'mini', viewBox: '0 0 88 12', 'aria-hidden': 'true' },
      s('rect', { class: 'track', x: 1, y: 4, width: 86, height: 4, rx: 2 }),
      s('rect', { class: 'span ' + kind, x: x(trust.low), y: 3, width: Math.max(x(trust.high) - x(trust.low), 1), height: 6, rx: 2 }),
      s('line', { class: 'tick', x1: x(PROMOTE), x2: x(PROMOTE), y1: 1, y2: 11 }),
      s('rect', { class: 'value ' + kind, x: x(trust.value) - 1.5, y: 2, width: 3, height: 8, rx: 1 })));
}

// line is the large drawing with its marks named.
function line(d) {
  const { trust, threshold, demote_below: low } = d;
  const kind = standing(trust.value, threshold, low);
  const x = (v) => 16 + 468 * v;
  const mark = (v, name, y, cls) => [
    s('line', { class: cls, x1: x(v), x2: x(v), y1: 30, y2: 66 }),
    s('text', { class: 'faint', x: x(v) + (v === low ? -4 : 4), y, 'text-anchor': v === low ? 'end' : 'start' }, `${name} ${score(v)}`),
  ];
  return s('svg', { class: 'trustline', viewBox: '0 0 500 100', role: 'img', 'aria-label': `Trust ${score(trust.value)}, interval ${score(trust.low)} to ${score(trust.high)}, promotes at ${score(threshold)}` },
    s('rect', { class: 'track', x: x(0), y: 44, width: 468, height: 8, rx: 4 }),
    s('rect', { class: 'span ' + kind, x: x(trust.low), y: 40, width: Math.max(x(trust.high) - x(trust.low), 2), height: 16, rx: 4 }),
    mark(threshold, 'promotes at', 26, 'tick'), mark(low, 'demotes below', 26, 'tick low'),
    s('circle', { class: 'mean', cx: x(trust.mean), cy: 48, r: 4.5 }),
    s('rect', { class: 'value ' + kind, x: x(trust.value) - 2.5, y: 36, width: 5, height: 24, rx: 2 }),
    s('text', { class: 'strong', x: x(trust.value), y: 82, 'text-anchor': 'middle' }, `trust ${score(trust.value)}`),
    s('text', { class: 'faint', x: x(trust.mean) + 2, y: trust.mean - trust.value < 0.14 ? 96 : 82, 'text-anchor': 'middle' }, `mean ${score(trust.mean)}`),
    [0, 0.25, 0.5, 0.75, 1].map((v) => s('text', { class: 'faint', x: x(v), y: 10, 'text-anchor': 'middle' }, v)));
}

const fact = (name, value, title) => [h('div', null, h('dt', { title }, name), h('dd', { class: 'num' }, value))];

export function trustBlock(d, shared) {
  return h('section', { class: 'block' },
    h('h2', null, 'Trust', h('span', { class: 'soft' }, 'computed from other principals’ outcomes, rule ', h('code', null, d.rule || '–'))),
    shared ? judged(d) : own(d));
}

// evidence is kept folded; the newest rows come first.
function evidence(rows) {
  if (!rows?.length) return null;
  const shown = rows.length > 100 ? `, the last 100 of ${rows.length}` : '';
  return h('details', { class: 'under' }, h('summary', null, `Evidence one by one: ${rows.length} ${rows.length === 1 ? 'report' : 'reports'}${shown}`),
    table('', rows.slice(-100).reverse(), ['By', 'Principal', 'Kind', 'Reward', 'Expected', 'Lift', 'Mass'], (e) => [
      e.agent, e.principal, e.kind, score(e.reward), score(e.expected), score(e.lift), amount(e.weight)]));
}

const jurors = (d) => table('', d.jurors, ['Juror', 'Mass', 'Mean lift', 'Leniency', 'Counted', ''], (j) => [
  j.juror.replace(/^principal:/, ''), amount(j.weight), j.weight > 0 ? score(j.lift) : '–', score(j.leniency), amount(j.counted), j.struck ? 'struck' : j.heard ? 'heard' : 'waiting']);

function judged(d) {
  const verdict = h('div', { class: d.jurors?.length ? 'under' : null },
    h('h3', null, d.missing?.length ? (d.verdict === 'demote' ? 'Why it was demoted' : 'Missing for promotion') : 'Verdict'), missing(d));
  return h('div', { class: 'pair' },
    h('div', null, line(d),
      h('dl', { class: 'facts close' },
        fact('Jury heard', `${d.heard} of ${d.jury}, needs ${d.quorum}`, 'Jurors with enough evidence'),
        fact('Citations', String(d.citations), 'Outcomes reported by jurors'),
        fact('Evidence', amount(d.trust.evidence), 'Capped mass'),
        fact('Half width', score(d.half_width))),
      d.jurors?.length > 0 && [verdict, evidence(d.evidence)]),
    d.jurors?.length > 0 ? jurors(d) : verdict);
}

function own(d) {
  const o = d.own_record;
  return h('div', { class: 'pair' },
    o ? h('dl', { class: 'facts' },
      fact('Own credit', `${amount(o.credit)} of ${amount(o.needed)}`, 'Its author’s own use; nominates at the full mark'),
      fact('Own mean lift', score(o.mean_lift), 'Above .50 helps')) : h('p', { class: 'soft' }, 'Private: no other principal has judged it.'),
    h('div', null, h('h3', null, d.missing?.length ? 'Missing for sharing' : 'Verdict'), missing(d)));
}

const stopped = { held: 'Held by a curator: in no recall until it is released', revoked: 'Revoked: called back for good', quarantined: 'In quarantine until a curator releases it' };

const missing = (d) => stopped[d.status]
  ? h('ul', { class: 'missing stopped' }, h('li', null, stopped[d.status]))
  : d.missing?.length
  ? h('ul', { class: 'missing' }, d.missing.map((m) => h('li', null, m === 'approval' ? 'a curator’s approval' : m)))
  : h('ul', { class: 'missing done' }, h('li', null, verdicts[d.verdict] ?? (d.verdict || 'Nothing is missing')));

const verdicts = {
  wait: 'Waits for more evidence', promote: 'Fulfils the rule for promotion', stay: 'Keeps its place in the meta-pool',
  demote: 'Has lost its place, for good in this version', nominated: 'Nominated: its shared copy is what others judge', private: 'Private',
};

function table(title, rows, heads, cells) {
  if (!rows?.length) return null;
  return h('div', { class: title ? 'under' : null }, title && h('h3', null, title), h('div', { class: 'scroll' }, h('table', null,
    h('thead', null, h('tr', null, heads.map((t, i) => h('th', { class: i ? 'num' : null, scope: 'col' }, t)))),
    h('tbody', null, rows.map((r) => h('tr', null, cells(r).map((c, i) => h('td', { class: i ? 'num' : null }, c))))))));
}
