/** Reads updates from the server, with the token of this tab if needed, and reconnects when they end. */

const TOKEN = 'plimsoll-token';
const RETRY_MS = 2000;

export function saveToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

/**
 * Reads the token that `plimsoll dashboard` appends to the address, and removes it from there, so that bookmarks do not
 * contain it.
 */
export function takeToken() {
  const token = /^#token=(.+)$/.exec(location.hash)?.[1];
  if (token === undefined) return;
  saveToken(decodeURIComponent(token));
  history.replaceState(null, '', location.pathname);
}

/** The answer to one question: its JSON, or `{ kind: 'problem', message }`. */
export async function ask(path) {
  try {
    const response = await fetch(path, { headers: credentials(), cache: 'no-store' });
    const answer = await response.json();
    return response.ok ? answer : { kind: 'problem', message: answer.message };
  } catch {
    return { kind: 'problem', message: 'no answer from the server; try again' };
  }
}

function credentials() {
  const token = sessionStorage.getItem(TOKEN);
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

/** Calls `onUpdate(update)`, `onRefused(status, message)` and `onLost()` until `stop()` of the result is called. */
export function openStream(path, { onUpdate, onRefused, onLost, onOpen }) {
  const ending = new AbortController();
  void follow();
  return { stop: () => ending.abort() };

  async function follow() {
    while (!ending.signal.aborted) {
      const mayReconnect = await readOnce().catch(() => true);
      if (ending.signal.aborted || !mayReconnect) return;
      onLost();
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  async function readOnce() {
    const response = await fetch(path, { headers: credentials(), signal: ending.signal, cache: 'no-store' });
    if (response.ok) {
      onOpen();
      await readEvents(response, onUpdate);
      return true;
    }
    const { message } = await response.json().catch(() => ({ message: response.statusText }));
    if (response.status !== 401 && response.status !== 403) return true;
    sessionStorage.removeItem(TOKEN);
    onRefused(response.status, message);
    return false;
  }
}

async function readEvents(response, onUpdate) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const parts = text.split('\n\n');
    text = parts.pop();
    for (const part of parts) onUpdate(JSON.parse(part.slice('data: '.length)));
  }
}
