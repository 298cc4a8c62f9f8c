/** Reads updates from the server, with the token of this tab if needed, and reconnects when they end. */

import type { Received } from './context.ts';

const TOKEN = 'plimsoll-token';
const RETRY_MS = 2000;

export function saveToken(token: string): void {
  sessionStorage.setItem(TOKEN, token);
}

/**
 * Reads the token that `plimsoll dashboard` appends to the address, and removes it from there, so that bookmarks do not
 * contain it.
 */
export function takeToken(): void {
  const token = /^#token=(.+)$/.exec(location.hash)?.[1];
  if (token === undefined) return;
  saveToken(decodeURIComponent(token));
  history.replaceState(null, '', location.pathname);
}

interface Refusal {
  readonly message: string;
}

/** Why there is no answer. */
export interface Problem extends Refusal {
  readonly kind: 'problem';
}

/** The answer to one question. */
export async function ask<T>(path: string): Promise<T | Problem> {
  try {
    const response = await fetch(path, { headers: credentials(), cache: 'no-store' });
    const answer: unknown = await response.json();
    return response.ok ? (answer as T) : { kind: 'problem', message: (answer as Refusal).message };
  } catch {
    return { kind: 'problem', message: 'no answer from the server; try again' };
  }
}

function credentials(): Readonly<Record<string, string>> {
  const token = sessionStorage.getItem(TOKEN);
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

export interface StreamEvents {
  readonly onOpen: () => void;
  readonly onUpdate: (update: Received) => void;
  readonly onLost: () => void;
  readonly onRefused: (status: number, message: string) => void;
}

export interface Stream {
  readonly stop: () => void;
}

/** Reports what happens until it is stopped. */
export function openStream(path: string, { onUpdate, onRefused, onLost, onOpen }: StreamEvents): Stream {
  const ending = new AbortController();
  const isEnded = (): boolean => ending.signal.aborted;
  void follow();
  return { stop: () => ending.abort() };

  async function follow(): Promise<void> {
    while (!isEnded()) {
      const mayReconnect = await readOnce().catch(() => true);
      if (isEnded() || !mayReconnect) return;
      onLost();
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  async function readOnce(): Promise<boolean> {
    const response = await fetch(path, { headers: credentials(), signal: ending.signal, cache: 'no-store' });
    if (response.ok) {
      onOpen();
      await readEvents(response, onUpdate);
      return true;
    }
    const unread = (): Refusal => ({ message: response.statusText });
    const { message } = await (response.json() as Promise<Refusal>).catch(unread);
    if (response.status !== 401 && response.status !== 403) return true;
    sessionStorage.removeItem(TOKEN);
    onRefused(response.status, message);
    return false;
  }
}

async function readEvents({ body }: Response, onUpdate: StreamEvents['onUpdate']): Promise<void> {
  let text = '';
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const parts = (text + chunk).split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) onUpdate(JSON.parse(part.slice('data: '.length)) as Received);
  }
}
