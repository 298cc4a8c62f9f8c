import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Racer } from './racer.ts';

const SETTLE_MS = 2500;
const KIBIBYTES_PER_MEBIBYTE = 1024;

/**
 * earlyoom with the same threshold, which it compares with MemAvailable after rounding both to shares of the memory; so
 * it may act a little early. It sends its SIGTERM itself.
 */
export async function earlyoomRacer(thresholdMiB: number): Promise<Racer> {
  const flags = ['-M', String(thresholdMiB * KIBIBYTES_PER_MEBIBYTE), '-r', '0'];
  const child = spawn('earlyoom', flags, { stdio: ['ignore', 'ignore', 'pipe'] });
  const exit = once(child, 'exit');
  let askedAtMs: number | undefined;
  child.stderr.on('data', (chunk: Buffer) => {
    if (chunk.includes('sending SIG')) askedAtMs ??= performance.now();
  });
  await Promise.race([sleep(SETTLE_MS), exit.then(() => Promise.reject(new Error('earlyoom ended at once')))]);
  return {
    expect: () => undefined,
    askedAtMs: () => askedAtMs,
    stop: async () => {
      child.kill('SIGTERM');
      await exit;
    },
  };
}
