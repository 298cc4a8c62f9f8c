import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { pageSize } from '#agent/observe/node/kernel-activity.ts';

test('the page size matches the system’s', () => {
  expect(pageSize()).toBe(Number(spawnSync('getconf', ['PAGESIZE'], { encoding: 'utf8' }).stdout));
});
