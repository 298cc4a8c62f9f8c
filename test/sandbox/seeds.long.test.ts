import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test.each([0, 2, 3, 7, 11, 42, 1_000, 2 ** 32 - 1])('the demo goes as it should with seed %i', (seed) => {
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
