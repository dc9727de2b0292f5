// Numbers, times and names as people read them.

const whole = new Intl.NumberFormat('en');
export const count = (n) => whole.format(n ?? 0);
export const score = (x) => (typeof x === 'number' ? x.toFixed(2).replace(/^(-?)0\./, '$1.') : '–');
export const percent = (x) => (typeof x === 'number' ? Math.round(x * 100) + ' %' : '–');
export const amount = (x) => (typeof x === 'number' ? String(Math.round(x * 100) / 100) : '–');

export function ago(text) {
  const seconds = (Date.now() - Date.parse(text)) / 1000;
  if (!text || Number.isNaN(seconds)) return '–';
  if (seconds < 45) return 'just now';
  for (const [unit, size] of [['d', 86400], ['h', 3600], ['min', 60]]) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${unit} ago`;
  }
  return '1 min ago';
}

export const clock = (text) => (text ? new Date(text).toLocaleTimeString([], { hour12: false }) : '');
export const exact = (text) => (text ? new Date(text).toLocaleString() : '');

export function pool(name) {
  if (name === 'meta') return 'meta-pool';
  if (name === 'candidates') return 'candidate shelf';
  return 'private to ' + (name ?? '').replace(/^agent:/, '');
}

export const words = (name) => (name ?? '').replaceAll('_', ' ');

const meanings = {
  promoted: 'good', candidate: 'trial', buffered: 'trial', held: 'bad', quarantined: 'bad', revoked: 'bad', demoted: 'bad', active: 'live',
};
export const meaning = (status) => meanings[status] ?? '';

const eventNames = {
  'experience.recorded': ['Recorded', 'live'], 'experience.buffered': ['Buffered', 'trial'], 'experience.merged': ['Merged', ''],
  'experience.nominated': ['Nominated', 'trial'], 'experience.promoted': ['Promoted', 'good'], 'experience.demoted': ['Demoted', 'bad'],
  'experience.held': ['Held', 'bad'], 'experience.released': ['Released', 'good'], 'experience.revoked': ['Revoked', 'bad'],
  'experience.corrected': ['Corrected', 'live'], 'experience.erased': ['Erased', ''], 'citation.added': ['Cited', ''],
  'trust.changed': ['Trust changed', ''], 'alert.raised': ['Alert', 'bad'], 'alert.cleared': ['Alert cleared', 'good'],
  'agent.enrolled': ['Agent enrolled', 'live'], 'agent.updated': ['Agent changed', ''], 'agent.removed': ['Agent removed', ''],
  'job.failed': ['Job failed', 'bad'],
};
export const eventName = (event) => eventNames[event] ?? [words(event).replace('.', ': '), ''];
