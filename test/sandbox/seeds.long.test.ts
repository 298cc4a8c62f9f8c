import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { volume } from '#test/build/volume.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const SEEDS = [0, 2 ** 32 - 1, 2, 3, 7, 11, 42, 1_000];

test.each(SEEDS.slice(0, volume(SEEDS.length)))('the demo goes as it should with seed %i', (seed) => {
  const args = ['sandbox/main.ts', '--once', '--port', '0', '--seed', String(seed)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect(stderr).toBe('');
  expect(stdout).toContain('everything happened as it should');
  expect(status).toBe(0);
});
