import type { ServerResponse } from 'node:http';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Viewer } from './access/viewer.ts';
import type { DashboardSources } from './sources.ts';
import { nextUpdate, type OpenPage } from './viewer-update.ts';

export interface LiveStreamOptions {
  readonly sources: DashboardSources;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly clusterName: string | undefined;
}

/** Server-Sent Events to every open page: an update at once, then at most one every 200 ms while things change. */
export interface LiveStream {
  /**
   * Adds a page, and returns false if too many are open in total or for its user; `node` is the one whose details it
   * shows. A closed page frees its place.
   */
  add(response: ServerResponse, viewer: Viewer, node: string | undefined): boolean;
}

interface Listener extends OpenPage {
  readonly response: ServerResponse;
  readonly openedAt: number;
  isBusy: boolean;
}

const PAUSE_MS = 200;
/** Proxies close silent connections, and the page also shows how old its data is. */
const HEARTBEAT_MS = 5_000;
const MAX_PAGES = 100;
const MAX_PAGES_OF_USER = 10;
const MAX_UNREAD_BYTES = 4_194_304;
/** After this time the page reconnects, and its permissions are checked again. */
const MAX_STREAM_MS = 300_000;

/** Starts sending; ends with `signal`, which also ends every open page. */
export function createLiveStream({ sources, clock, signal, clusterName }: LiveStreamOptions): LiveStream {
  const listeners = new Set<Listener>();
  let isScheduled = false;

  async function send(listener: Listener): Promise<void> {
    if (listener.response.destroyed) return void listeners.delete(listener);
    // A page whose permissions are still being checked gets the next update.
    if (listener.isBusy) return;
    listener.isBusy = true;
    const update = await nextUpdate(listener, sources, clock.now());
    listener.isBusy = false;
    write(listener, `data: ${JSON.stringify({ cluster: clusterName, ...update })}\n\n`, clock.monotonic());
  }

  function sendAll(): void {
    for (const listener of listeners) void send(listener);
  }

  async function sendSoon(): Promise<void> {
    if (isScheduled || listeners.size === 0) return;
    isScheduled = true;
    await clock.sleep(PAUSE_MS, signal);
    isScheduled = false;
    sendAll();
  }

  async function beat(): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(HEARTBEAT_MS, signal);
      sendAll();
    }
  }

  function isFull({ user }: Viewer): boolean {
    if (signal.aborted || listeners.size >= MAX_PAGES) return true;
    if (user === undefined) return false;
    return [...listeners].filter(({ viewer }) => viewer.user === user).length >= MAX_PAGES_OF_USER;
  }

  const stop = sources.onChange(() => void sendSoon());
  signal.addEventListener('abort', () => {
    stop();
    for (const { response } of listeners) response.end();
    listeners.clear();
  });
  void beat();

  return {
    add(response, viewer, node) {
      // Already closed during the permission check: its 'close' was emitted before anything listened.
      if (response.destroyed) return true;
      if (isFull(viewer)) return false;
      const openedAt = clock.monotonic();
      const listener: Listener = { response, viewer, node, sent: new Map(), openedAt, isBusy: false };
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      listeners.add(listener);
      response.on('close', () => listeners.delete(listener));
      void send(listener);
      return true;
    },
  };
}

/** A page that does not read is disconnected; it then reconnects. */
function write({ response, openedAt }: Listener, text: string, now: number): void {
  if (response.writableEnded || response.destroyed) return;
  if (response.writableLength > MAX_UNREAD_BYTES) return void response.destroy();
  response.write(text);
  if (now - openedAt > MAX_STREAM_MS) response.end();
}
