import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeWorkFolder } from './cache-folder.ts';

test('unfinished things of a process that was killed go when the next one begins, those of a living one stay', () => {
  const cache = mkdtempSync(join(tmpdir(), 'plimsoll-cache-'));
  onTestFinished(() => rmSync(cache, { recursive: true }));
  const { pid: gone } = spawnSync('true');
  for (const name of [`making-${gone}-abc`, `making-${process.ppid}-abc`, 'kernel']) mkdirSync(join(cache, name));
  const own = makeWorkFolder(cache);
  expect(readdirSync(cache).sort()).toEqual(['kernel', `making-${process.ppid}-abc`, basename(own)].sort());
});
