import type { ServerResponse } from 'node:http';
import type { Clock } from '#shared/runtime/clock.ts';

export interface LiveStreamOptions {
  /** The text of one message. */
  readonly message: () => string;
  readonly onChange: (listener: () => void) => () => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Server-Sent Events to every open page: one message at once, then one at most every 200 ms while things change. */
export interface LiveStream {
  /** Whether there was room for one more viewer. */
  add(response: ServerResponse): boolean;
}

const PAUSE_MS = 200;
/** A proxy closes what is silent; the page also sees the age of what it shows. */
const HEARTBEAT_MS = 5_000;
const MOST_VIEWERS = 100;
const MOST_UNREAD_BYTES = 1_048_576;

/** Starts telling; ends with `signal`, and every open page with it. */
export function createLiveStream({ message, onChange, clock, signal }: LiveStreamOptions): LiveStream {
  const viewers = new Set<ServerResponse>();
  let isScheduled = false;

  function tell(): void {
    if (viewers.size === 0) return;
    const text = `data: ${message()}\n\n`;
    for (const viewer of viewers) send(viewer, text);
  }

  /** A viewer that does not read is dropped: its page reconnects by itself. */
  function send(viewer: ServerResponse, text: string): void {
    if (viewer.writableLength > MOST_UNREAD_BYTES) viewer.destroy();
    else viewer.write(text);
  }

  async function tellSoon(): Promise<void> {
    if (isScheduled) return;
    isScheduled = true;
    await clock.sleep(PAUSE_MS, signal);
    isScheduled = false;
    tell();
  }

  async function beat(): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(HEARTBEAT_MS, signal);
      tell();
    }
  }

  const stop = onChange(() => void tellSoon());
  signal.addEventListener('abort', () => {
    stop();
    for (const viewer of viewers) viewer.end();
    viewers.clear();
  });
  void beat();

  return {
    add: (response) => {
      if (signal.aborted || viewers.size >= MOST_VIEWERS) return false;
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      viewers.add(response);
      response.on('close', () => viewers.delete(response));
      send(response, `data: ${message()}\n\n`);
      return true;
    },
  };
}
