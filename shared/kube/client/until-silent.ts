import type { Clock } from '#shared/runtime/clock.ts';
import type { ByteStream } from './client.ts';

/** Thrown when a connection stays open but says nothing. */
export class SilentStreamError extends Error {
  override readonly name = 'SilentStreamError';
}

/** The bytes of a stream, until it ends or has been silent for `silenceMs`; then it is closed and SilentStreamError thrown. */
export async function* untilSilent(stream: ByteStream, silenceMs: number, clock: Clock): AsyncGenerator<Buffer> {
  const done = new AbortController();
  const state = { lastAt: clock.monotonic(), isSilent: false };

  async function watchdog(): Promise<void> {
    while (!done.signal.aborted && !state.isSilent) {
      const remaining = state.lastAt + silenceMs - clock.monotonic();
      if (remaining > 0) await clock.sleep(remaining, done.signal);
      else state.isSilent = true;
    }
    stream.close();
  }

  const watching = watchdog();
  try {
    for await (const chunk of stream) {
      state.lastAt = clock.monotonic();
      yield chunk;
    }
  } catch (error) {
    throw state.isSilent ? new SilentStreamError(`silent for ${silenceMs} ms`, { cause: error }) : error;
  } finally {
    done.abort();
    await watching;
  }
}
