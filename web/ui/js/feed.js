// The live feed: a websocket that comes back at its cursor, and the list of what it said.

import { h, put, short } from './dom.js';
import { clock, eventName, exact, score, words } from './format.js';

const KEEP = 200;
const PLACE = 'cairn.feed.cursor';

// feed follows the node and calls on.message and on.state; it ends only when the server says so.
function follow(start, on) {
  let cursor = start;
  let tries = 0;
  let timer = 0;
  let socket = null;
  let stopped = false;

  function connect() {
    on.state('connecting', cursor);
    socket = new WebSocket(location.origin.replace(/^http/, 'ws') + '/v1/feed', ['cairn.feed.v1']);
    socket.onopen = () => socket.send(JSON.stringify(cursor ? { type: 'hello', cursor } : { type: 'hello' }));
    socket.onmessage = (e) => {
      const m = JSON.parse(e.data);
      const next = m.type === 'gap' ? m.to : m.cursor;
      if (next) cursor = next;
      if (m.type === 'welcome') {
        on.state('live', cursor, tries > 0);
        tries = 0;
      }
      on.message(m, cursor);
    };
    socket.onclose = (e) => {
      if (stopped) return;
      if (e.code === 4504 && cursor) {
        cursor = ''; // the place is unknown to this node: go on from now
      } else if (e.code >= 4500) {
        on.state('ended', cursor, false, e.reason);
        return;
      }
      const pause = Math.min(1000 * 2 ** tries++, 15000);
      on.state('waiting', cursor, false, e.reason, pause);
      timer = setTimeout(connect, pause);
    };
  }
  connect();
  return () => {
    stopped = true;
    clearTimeout(timer);
    socket?.close(1000);
  };
}

// showFeed draws the feed into el. first is where to begin in a new tab; onEvent hears every event.
export function showFeed(el, first, onEvent) {
  const list = h('ol', { 'aria-label': 'Events, newest first' });
  const state = h('p', { class: 'state', role: 'status' });
  const empty = h('p', { class: 'empty' }, h('strong', null, 'Quiet so far'), 'What agents record, cite and promote appears here as it happens.');
  const hold = h('button', { type: 'button', class: 'quiet push', 'aria-pressed': 'false' }, 'Pause');
  put(el, h('div', { class: 'bar' }, h('h2', null, 'Live feed'), hold, state), empty, list);

  let held = [];
  let paused = false;
  hold.onclick = () => {
    paused = !paused;
    hold.setAttribute('aria-pressed', String(paused));
    hold.textContent = paused ? 'Go on' : 'Pause';
    if (!paused) held.splice(0).forEach(add);
  };

  function add(m) {
    empty.hidden = true;
    list.prepend(row(m));
    while (list.children.length > KEEP) list.lastChild.remove();
  }

  return follow(sessionStorage.getItem(PLACE) || first, {
    state(kind, cursor, resumed, reason, pause) {
      const [dot, text] = {
        live: ['good', resumed ? 'Live again, nothing missed' : 'Live'],
        connecting: ['wait', 'Connecting'],
        waiting: ['wait', `Connection lost, trying again in ${Math.round((pause ?? 0) / 1000)} s`],
        ended: ['bad', 'Ended by the node' + (reason ? ': ' + reason : '')],
      }[kind];
      put(state, h('span', { class: 'dot ' + dot }), text, cursor ? [' · at ', h('code', { title: 'Feed cursor: epoch, log index, place in the entry' }, cursor)] : null);
    },
    message(m, cursor) {
      sessionStorage.setItem(PLACE, cursor);
      const at = state.querySelector('code');
      if (at) at.textContent = cursor;
      if (m.type === 'welcome') return;
      if (paused) held = [...held, m].slice(-KEEP);
      else add(m);
      onEvent(m);
    },
  });
}

function row(m) {
  if (m.type === 'gap') {
    return h('li', { class: 'gap' }, `Events from ${m.from} to ${m.to} are no longer kept. The lists show how things stand.`);
  }
  const [name, kind] = eventName(m.event);
  const data = m.data ?? {};
  const by = [m.agent, data.task_type && words(data.task_type), typeof data.trust === 'number' && 'trust ' + score(data.trust)].filter(Boolean);
  const what = data.scenario || data.reason || words(data.alert) || (m.experience ? 'experience ' + m.experience : '');
  return h('li', { class: 'new', title: `cursor ${m.cursor}` },
    h('div', { class: 'head' }, h('span', { class: 'chip ' + kind }, name), h('time', { datetime: m.time, title: exact(m.time) }, clock(m.time))),
    what && (m.experience ? h('a', { class: 'what', href: '#/e/' + m.experience }, short(String(what), 160)) : h('p', { class: 'what' }, short(String(what), 160))),
    by.length > 0 && h('p', { class: 'by' }, by.join(' · ')));
}
