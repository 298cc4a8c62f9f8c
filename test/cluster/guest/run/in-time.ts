import type { Guest } from './start-qemu.ts';

/** Kills a guest for which something has been awaited too long, so that the waiting test learns of its end. */
export async function inTime<T>(guest: Guest, timeoutMs: number, awaited: Promise<T>): Promise<T> {
  const tooLong = setTimeout(() => guest.kill('SIGKILL'), timeoutMs);
  return awaited.finally(() => clearTimeout(tooLong));
}
