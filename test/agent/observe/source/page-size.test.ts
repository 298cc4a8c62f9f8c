import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { pageSize } from '#agent/observe/source/page-size.ts';

test('the size of a page is what the system says', () => {
  expect(pageSize()).toBe(Number(spawnSync('getconf', ['PAGESIZE'], { encoding: 'utf8' }).stdout));
});
