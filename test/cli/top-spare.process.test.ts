import { describe, expect, test } from 'vitest';
import { encodeDigest } from '#shared/decide/spare/digest.ts';
import { emptySpareState } from '#shared/decide/spare/spare.ts';
import { NODE_PRESSURES, takenList, TAKEN_AT } from './node-pressures.ts';
import { itemsIn, runPlimsoll } from './run-plimsoll.ts';

const GIB = 2 ** 30;
const because = { code: 'Room', text: 'there is room', facts: {} };

function spare(name: string, mode: string, [requested, used, lent]: readonly [number, number, number], at = TAKEN_AT) {
  const memory = { requested: requested * GIB, used: used * GIB, lent: lent * GIB, lendable: lent * GIB + 1, because };
  const rest = { median: GIB, p99: 2 * GIB, highest: 3 * GIB, taken: GIB };
  const cpu = { requested: 4_000, used: 500, median: 300, p99: 800, highest: 900, taken: 0, lendable: 0, lent: 0 };
  const status = { mode, since: '2026-01-01T10:00:00Z', memory: { ...memory, ...rest }, cpu: { ...cpu, because } };
  const spec = { observedAt: at, mode, signals: [], next: [], spare: status };
  return { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name }, status: spec };
}

const LENT = [
  spare('node-5', 'DryRun', [10, 8, 1]),
  spare('node-4', 'Enforce', [30, 10, 12]),
  spare('node-6', 'Enforce', [30, 1, 20], '2026-01-01T11:00:00Z'),
];
const top = (items: readonly object[], ...args: readonly string[]) =>
  runPlimsoll(['top', 'spare', '-f', '-', ...args], takenList(items));

test('plimsoll simulate spare answers by the history that agents report, with the settings that are given', async () => {
  const digest = encodeDigest(emptySpareState(0));
  const node = spare('node-4', 'Enforce', [30, 10, 12]);
  const signal = { name: 'memory.available', state: 'Far', available: '20Gi', capacity: '32Gi', threshold: '2Gi' };
  const status = { ...node.status, signals: [signal], spare: { ...node.status.spare, digest } };
  const simulate = (...args: readonly string[]) =>
    runPlimsoll(['simulate', 'spare', '-f', '-', ...args], takenList([{ ...node, status }]));
  expect(await simulate('--max', '25%')).toMatchObject({ code: 0, stderr: '' });
  expect((await simulate('--max', '25%')).stdout).toMatch(
    /^NAME +LENDABLE +SIMULATED +EXCEEDED +REASON\nnode-4 +12Gi +8Gi +0\.0% /,
  );
  for (const mistake of [
    ['--percentile', '101'],
    ['--margin', '3'],
    ['--max', '-1%'],
  ])
    expect(await simulate(...mistake)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('expected a') as string,
    });
  const withoutSpare = takenList(NODE_PRESSURES);
  expect(await runPlimsoll(['simulate', 'spare', '-f', '-'], withoutSpare)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('no agent reports spare room') as string,
  });
  const { code, stdout, stderr } = await runPlimsoll(['simulate', 'spare', '-f', '-', '-o', 'json'], withoutSpare);
  expect([code, itemsIn(stdout), stderr]).toEqual([0, [], '']);
});

describe('plimsoll top spare', () => {
  test('what nodes could lend and do, the most idle first, and the sums; silent agents and others say nothing', async () => {
    expect(await top([...NODE_PRESSURES, ...LENT])).toEqual({
      code: 0,
      stdout: [
        'NAME     MODE      REQUESTED   USED   P99   LENDABLE   LENT   TAKEN   HISTORY',
        'node-4   Enforce   30Gi        10Gi   2Gi   12Gi       12Gi   1Gi     120m',
        'node-5   DryRun    10Gi        8Gi    2Gi   1Gi        1Gi    1Gi     120m',
        '',
      ].join('\n'),
      stderr: '2 nodes: of 40Gi memory requested, 22Gi is not used; 12Gi is lent, of which spare pods take 2Gi\n',
    });
  });

  test('of CPU, and as data', async () => {
    expect((await top(LENT, '--resource', 'cpu')).stdout).toContain('node-4   Enforce   4000m       500m   800m');
    expect(itemsIn((await top(LENT, '-o', 'json')).stdout)[0]).toMatchObject({ lent: 12 * GIB, because });
  });
});
