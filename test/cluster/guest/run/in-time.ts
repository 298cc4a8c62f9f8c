import type { Guest } from './start-qemu.ts';
import { letTimePass } from '#test/build/waiting.ts';

/** Kills a guest for which something has been awaited too long, so that the waiting test learns of its end. */
export async function inTime<T>(guest: Guest, timeoutMs: number, awaited: Promise<T>): Promise<T> {
  const isOver = new AbortController();
  void letTimePass(timeoutMs, 'watched', isOver.signal).then(() => {
    if (!isOver.signal.aborted) guest.kill('SIGKILL');
  });
  return awaited.finally(() => isOver.abort());
}
