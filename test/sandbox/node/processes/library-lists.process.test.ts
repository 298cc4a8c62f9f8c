import { AdapterFactory } from 'node-os-utils';
import { expect, test } from 'vitest';
import { withTrimmedLines } from '#sandbox/node/processes/process-source.ts';

const LINES = ' 7749     1 node  0.5  1.0  2048 S root node a\n31827 31699 node  0.5  1.0  4096 S root node b\n';

test('node-os-utils lists processes with short numbers, too, which ps pads with blanks', async () => {
  const adapter = AdapterFactory.create('linux');
  const result = { stdout: LINES, stderr: '', exitCode: 0, platform: 'linux', executionTime: 1, command: 'ps' };
  adapter.executeCommand = () => Promise.resolve(result);
  const listed = (await withTrimmedLines(adapter).getProcesses()) as readonly { readonly pid: number }[];
  expect(listed.map(({ pid }) => pid)).toEqual([7749, 31827]);
});
