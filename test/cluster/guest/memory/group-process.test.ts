import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { leastWhileItRuns } from './group-process.ts';

const MEMORY = { left: () => ({ memAvailableMiB: 7, kubeletMiB: 5 }) };

test.each([
  ['runs to its end', ['true'], 1],
  ['fails', ['false'], 1],
  ['an OOM killer ends', ['kill -KILL $$'], 1],
  ['the emulation loses once', ['kill -SEGV $$', 'true'], 2],
  ['the emulation loses again and again', ['kill -SEGV $$', 'kill -ILL $$', 'kill -BUS $$', 'true'], 3],
])('a process that %s is started as often as it is worth', async (_, scripts, expected) => {
  let starts = 0;
  const start = () => spawn('sh', ['-c', scripts[starts++] ?? ''], { stdio: 'ignore' });
  expect(await leastWhileItRuns(MEMORY, start, 60_000)).toEqual(MEMORY.left());
  expect(starts).toBe(expected);
});
