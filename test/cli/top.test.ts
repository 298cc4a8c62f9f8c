import { describe, expect, test } from 'vitest';
import { NODE_PRESSURES, takenList } from './node-pressures.ts';
import { runPlimsoll } from './run-plimsoll.ts';

const top = (what: string, ...args: readonly string[]) =>
  runPlimsoll(['top', what, '-f', '-', ...args], takenList(NODE_PRESSURES));
const WARNING = 'Warning: the agent has not reported for minutes on: node-3; these nodes count as unknown\n';

describe('plimsoll top', () => {
  test('nodes: the worst state first, and a silent agent before all', async () => {
    expect(await top('nodes')).toEqual({
      code: 0,
      stdout: [
        'NODE     MODE      STATE     SIGNAL             AVAILABLE   THRESHOLD   CAPACITY    NEXT',
        'node-3   Enforce   Unknown   memory.available   <unknown>   <unknown>   <unknown>   <none>',
        'node-1   Enforce   Soft      pid.available      10          20          8Gi         reports/nightly-0',
        'node-2   DryRun    Far       memory.available   6Gi         250Mi       8Gi         <none>',
        '',
      ].join('\n'),
      stderr: WARNING,
    });
  });

  test('pods: who would be evicted next, by fresh reports alone', async () => {
    expect(await top('pods')).toEqual({
      code: 0,
      stdout: [
        'NODE     POSITION   POD                 PRIORITY   USAGE   REQUEST   REASON',
        'node-1   1          reports/nightly-0   -10        2Gi     1Gi       uses 2Gi memory, over its request of 1Gi, priority -10',
        '',
      ].join('\n'),
      stderr: WARNING,
    });
    expect(JSON.parse((await top('pods', '-n', 'payments', '-o', 'json')).stdout)).toEqual([]);
  });

  test('without any report the next step is named', async () => {
    const run = await runPlimsoll(['top', 'nodes', '-f', '-'], takenList([{ apiVersion: 'v1', kind: 'Node' }]));
    expect([run.code, run.stderr]).toEqual([
      2,
      'error: no NodePressure found: see that the agent is installed (kubectl -n plimsoll-node get daemonsets)\n',
    ]);
  });
});
