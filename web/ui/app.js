// The page: signs in, draws the overview, the list or one experience, and follows the feed.

import { get, signIn, signOut } from './js/api.js';
import { byId, h, put } from './js/dom.js';
import { showDesk } from './js/desk.js';
import { showDetail } from './js/detail.js';
import { showFeed } from './js/feed.js';
import { POOLS, showList } from './js/list.js';
import { showCluster, showStats } from './js/overview.js';

const view = { pool: 'all', filters: { q: '', task_type: '', kind: '', status: '' } };
let me = null;
let reload = () => {};
let reloadDesk = () => {};
let stopFeed = () => {};
let timer = 0;

// failed says in words what went wrong and offers another try; a session that ended leads to the sign-in form.
function failed(el, error, again) {
  if (error.status === 401) return ask('Your session has ended. Sign in again to go on.');
  put(el, h('p', { class: 'notice bad', role: 'alert' }, `Could not load: ${error.message}.`, h('button', { type: 'button', onclick: again }, 'Try again')));
}

function route() {
  const [, first, id] = location.hash.split('/');
  const main = byId('main');
  if (first === 'e' && id) {
    reload = showDetail(main, decodeURIComponent(id), { back: '#/' + view.pool, me, failed, changed });
    document.title = 'Experience · Cairn';
    main.focus({ preventScroll: true });
    main.scrollIntoView({ block: 'nearest' });
    return;
  }
  view.pool = POOLS[first] ? first : 'all';
  document.title = `${POOLS[view.pool].name} · Cairn`;
  reload = showList(main, view, failed);
}

async function overview() {
  const [stats, cluster] = await Promise.allSettled([get('stats'), get('cluster')]);
  if (stats.status === 'fulfilled') showStats(byId('stats'), stats.value);
  else failed(byId('stats'), stats.reason, overview);
  if (cluster.status === 'fulfilled') showCluster(byId('cluster'), cluster.value);
  else put(byId('cluster'), h('span', { class: 'dot bad' }), 'The node cannot say how its cluster is.');
  return [stats.value, cluster.value];
}

// changed draws what depends on something that was done on this page.
function changed() {
  overview();
  reloadDesk();
}

// soon draws again after events, at most every two seconds however many come.
const touched = new Set();
function soon(m) {
  touched.add(m.experience);
  timer ||= setTimeout(() => {
    timer = 0;
    overview();
    reloadDesk();
    if (!document.activeElement?.closest('form')) reload(new Set(touched));
    touched.clear();
  }, 2000);
}

async function start() {
  try {
    me = await get('agents/me');
  } catch (e) {
    const used = location.pathname === '/signin';
    return ask(e.status !== 401 ? `The node does not answer as it should: ${e.message}.` : used ? 'This sign-in link was used or is older than ten minutes.' : '');
  }
  if (location.pathname !== '/') history.replaceState(null, '', '/');
  put(byId('who'), me.id, h('span', { class: 'soft' }, ` · ${(me.roles ?? []).join(', ')}`));
  byId('signout').hidden = false;
  byId('gate').hidden = true;
  byId('app').hidden = false;
  reloadDesk = showDesk(byId('desk'), me, () => reload());
  route();
  const [stats, cluster] = await overview();
  const from = stats && cluster ? `${cluster.epoch}:${Math.max(0, stats.index - 300)}.0` : '';
  stopFeed();
  stopFeed = showFeed(byId('feed'), from, soon);
}

function ask(why) {
  stopFeed();
  reload = reloadDesk = () => {};
  document.querySelectorAll('dialog').forEach((d) => d.close());
  byId('app').hidden = true;
  byId('signout').hidden = true;
  put(byId('who'));
  put(byId('cluster'));
  const key = h('input', { type: 'password', name: 'key', placeholder: 'ck_…', 'aria-label': 'API key', autocomplete: 'off', required: true, spellcheck: 'false' });
  const said = h('p', { class: 'notice bad', role: 'alert', hidden: !why }, why);
  const form = h('form', null, key, h('button', { class: 'main' }, 'Sign in'));
  form.onsubmit = async (e) => {
    e.preventDefault();
    try {
      await signIn(key.value.trim());
      await start();
    } catch (error) {
      said.textContent = error.status === 401 ? 'This key is not known here. It may have been removed.' : `Could not sign in: ${error.message}.`;
      said.hidden = false;
      key.select();
    }
  };
  put(byId('gate'), h('h1', null, 'Sign in'), said,
    h('p', null, 'Open the sign-in link that ', h('code', null, 'cairn serve'), ' or ', h('code', null, 'cairn demo'), ' has printed, or paste an API key.'), form,
    h('p', { class: 'soft' }, 'The key stays on the node; the browser keeps a session cookie for a day.'));
  byId('gate').hidden = false;
  key.focus();
}

const themes = ['auto', 'light', 'dark'];
function theme(name) {
  if (name === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  localStorage.setItem('cairn.theme', name);
  byId('theme').textContent = { auto: 'Theme: auto', light: 'Theme: light', dark: 'Theme: dark' }[name];
  byId('theme').onclick = () => theme(themes[(themes.indexOf(name) + 1) % themes.length]);
}

document.addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector('dialog')) return;
  const typing = e.target.closest('input, select');
  if (e.key === 'Escape') {
    if (typing) typing.blur();
    else if (location.hash.startsWith('#/e/')) location.hash = '#/' + view.pool;
  }
  if (typing) return;
  if (e.key === '/') {
    e.preventDefault();
    document.querySelector('.filters input')?.focus();
  }
  if (e.key === 'j' || e.key === 'k') {
    const links = [...document.querySelectorAll('.rows .lead a')];
    const at = links.indexOf(document.activeElement) + (e.key === 'j' ? 1 : -1);
    links[Math.max(0, Math.min(at, links.length - 1))]?.focus();
  }
});
addEventListener('hashchange', () => byId('app').hidden || route());
byId('signout').onclick = async () => {
  await signOut().catch(() => {});
  sessionStorage.clear();
  ask('');
};
theme(themes.includes(localStorage.getItem('cairn.theme')) ? localStorage.getItem('cairn.theme') : 'auto');
setInterval(() => byId('app').hidden || document.hidden || overview(), 15000);
start();
