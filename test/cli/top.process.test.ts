import { describe, expect, test } from 'vitest';
import { EXAMPLE_CLUSTER, examplePod } from './example-cluster.ts';
import { NODE_PRESSURES, takenList } from './node-pressures.ts';
import { itemsIn, runPlimsoll } from './run-plimsoll.ts';

const top = (what: string, ...args: readonly string[]) =>
  runPlimsoll(['top', what, '-f', '-', ...args], takenList(NODE_PRESSURES));
const WARNING = 'Warning: the agent has not reported for minutes on: node-3; these nodes count as unknown\n';

describe('plimsoll top', () => {
  test('nodes: the worst state first, and a silent agent before all', async () => {
    expect(await top('nodes')).toEqual({
      code: 0,
      stdout: [
        'NAME     MODE      STATE     SIGNAL             AVAILABLE   THRESHOLD   NEXT                AGE',
        'node-3   Enforce   Unknown   memory.available   <unknown>   <unknown>   <none>              60m',
        'node-1   Enforce   Soft      pid.available      10          20          reports/nightly-0   0s',
        'node-2   DryRun    Far       memory.available   6Gi         250Mi       <none>              0s',
        '',
      ].join('\n'),
      stderr: WARNING,
    });
  });

  test('pods: who would be evicted next, by fresh reports alone', async () => {
    expect(await top('pods')).toEqual({
      code: 0,
      stdout: [
        'NAMESPACE   NAME        NODE     POSITION   PRIORITY   USAGE   REQUEST   AGE   REASON',
        'reports     nightly-0   node-1   1          -10        2Gi     1Gi       0s    uses 2Gi memory, over its request of 1Gi, priority -10',
        '',
      ].join('\n'),
      stderr: WARNING,
    });
    expect(itemsIn((await top('pods', '-n', 'payments', '-o', 'json')).stdout)).toEqual([]);
  });

  test('priorities: their order, with the pods of each and what they request (S3-6)', async () => {
    const orphan = examplePod({
      name: 'old',
      namespace: 'payments',
      className: 'critical',
      priority: 900,
      cpu: '250m',
    });
    const input = takenList([...EXAMPLE_CLUSTER, orphan]);
    expect(await runPlimsoll(['top', 'priorities', '-f', '-'], input)).toEqual({
      code: 0,
      stdout: [
        'NAME                      PRIORITY     PREEMPTS   DEFAULT   PODS   NAMESPACES   CPU    MEMORY',
        'system-node-critical      2000001000   true       false     0      0            0      0',
        'system-cluster-critical   2000000000   true       false     0      0            0      0',
        'critical                  1000         true       false     2      1            3      2Gi',
        'critical                  900          true       false     1      1            250m   1Gi',
        'batch                     -10          true       false     1      1            3      1Gi',
        'kept                      -20          true       false     1      1            3      1Gi',
        '',
      ].join('\n'),
      stderr: '',
    });
  });

  test('quotas: what is used and free, and who uses most', async () => {
    const quota = (name: string, spec: object, status: object) => ({
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'PriorityQuota',
      metadata: { name },
      spec,
      status,
    });
    const byNamespace = [
      { namespace: 'reports', used: { 'requests.cpu': '1500m' } },
      { namespace: 'payments', used: { 'requests.cpu': '3', 'requests.memory': '6Gi' } },
    ];
    const input = takenList([
      {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { namespace: 'reports', name: 'urgent' },
        spec: { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['a'] }] } },
        status: { hard: { pods: '4' }, used: { pods: '1' } },
      },
      { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { namespace: 'reports', name: 'of-all' }, spec: {} },
      quota('none', { priority: { min: 10 }, hard: { pods: '0' } }, {}),
      quota(
        'critical',
        { priorityClassNames: ['critical'], hard: { 'requests.cpu': '10', 'requests.memory': '8Gi' } },
        { used: { 'requests.cpu': '4500m', 'requests.memory': '6Gi' }, byNamespace },
      ),
    ]);
    const { code, stdout } = await runPlimsoll(['top', 'quotas', '-f', '-'], input);
    expect({ code, lines: stdout.trim().split('\n') }).toEqual({
      code: 0,
      lines: [
        'NAMESPACE   NAME       RESOURCE          USED    HARD   FREE    USED%    LARGEST NAMESPACE',
        '<none>      critical   requests.cpu      4500m   10     5500m   45%      payments (3)',
        '<none>      critical   requests.memory   6Gi     8Gi    2Gi     75%      payments (6Gi)',
        '<none>      none       pods              0       0      0       <none>   <none>',
        'reports     urgent     pods              1       4      3       25%      <none>',
      ],
    });
    const sorted = await runPlimsoll(['top', 'quota', '-f', '-', '--sort-by=.usedPercent', '-o', 'name'], input);
    expect(sorted.stdout.split('\n').slice(0, 3)).toEqual([
      'priorityquota.plimsoll.dev/none',
      'resourcequota/urgent',
      'priorityquota.plimsoll.dev/critical',
    ]);
  });

  test('-o wide adds columns behind the age', async () => {
    const lines = (await top('nodes', '-o', 'wide')).stdout.split('\n').map((line) => line.split(/ {3,}/).slice(-4));
    expect(lines.slice(0, 3)).toEqual([
      ['AGE', 'CAPACITY', 'POLICY', 'VERSION'],
      ['60m', '<unknown>', '<none>', '<unknown>'],
      ['0s', '8Gi', '<none>', '<unknown>'],
    ]);
  });

  test.each([
    [['node', 'node/node-1', '-o', 'name'], 'node/node-1\n'],
    [['no', 'node-2', '-o', 'name'], 'node/node-2\n'],
    [['po', '-o', 'name'], 'pod/nightly-0\n'],
    [
      ['nodes', '-o', 'jsonpath={range .items[*]}{.metadata.name}={.state}{"\\n"}{end}'],
      'node-3=Unknown\nnode-1=Soft\nnode-2=Far\n',
    ],
  ])('%j prints what kubectl would', async ([what = '', ...args], stdout) => {
    expect(await top(what, ...args)).toMatchObject({ code: 0, stdout });
  });

  test.each([
    [
      'node-9',
      'no NodePressure of node node-9 found: see that it exists (kubectl get nodes) and that an agent runs there',
    ],
    ['pod/node-1', 'expected NAME or node/NAME, got pod/node-1'],
  ])('the node %s cannot be shown', async (node, message) => {
    const { code, stderr } = await top('nodes', node);
    expect({ code, stderr }).toEqual({ code: 2, stderr: `error: ${message}\n` });
  });
});
