// Calls of the node's REST interface with the browser's session.

export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail || `the node answered ${status}`);
    this.status = status;
    this.code = body?.code;
  }
}

async function send(method, path, body, headers) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers: body ? { 'Content-Type': 'application/json', ...headers } : {},
      body: body ? JSON.stringify(body) : undefined,
      credentials: 'same-origin',
    });
  } catch {
    throw new Problem(0, { detail: 'the node cannot be reached' });
  }
  const text = await answer.text();
  let value = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    throw new Problem(answer.status, { detail: 'the answer is no JSON; is a proxy in between?' });
  }
  if (!answer.ok) throw new Problem(answer.status, value);
  return value;
}

export const get = (path, query) => {
  const q = new URLSearchParams(Object.entries(query ?? {}).filter(([, v]) => v !== '' && v !== undefined && v !== null));
  return send('GET', '/v1/' + path + (q.size ? '?' + q : ''));
};
// post sends a write under a key of its own, so that a repeat of the browser's changes nothing twice.
export const post = (path, body) => send('POST', '/v1/' + path, body, { 'Idempotency-Key': fresh() });
const fresh = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('');
export const signIn = (key) => send('POST', '/signin', { key });
export const signOut = () => send('POST', '/signout');
