import { expect, test } from 'vitest';
import { parseUsage, readProcess } from '#sandbox/node/processes/process-source.ts';

const STAT = '4711 (a) b (c) S 1 4711 4711 0 -1 4194304 1 0 0 0 150 50 0 0 20 0 7 0 100 1 1';

test('counts what ends with the process, and its CPU time', () => {
  const status =
    'Name:\tnode\nVmRSS:\t   44000 kB\nRssAnon:\t    8000 kB\nRssFile:\t   36000 kB\nRssShmem:\t       8 kB\n';
  expect(parseUsage(status, STAT)).toEqual({
    workingSetBytes: 8008 * 1024,
    rssBytes: 44_000 * 1024,
    cpuNanoSeconds: 2_000_000_000,
  });
});

test('a zombie uses nothing', () => {
  expect(parseUsage('Name:\tnode\nState:\tZ (zombie)\n', STAT)).toBeUndefined();
});

test('reads this very process, and finds no process that is not there', async () => {
  const usage = await readProcess(process.pid);
  expect(usage?.workingSetBytes).toBeGreaterThan(1024 * 1024);
  expect(await readProcess(2 ** 22 + 1)).toBeUndefined();
});
