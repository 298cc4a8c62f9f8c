import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { clusterFile, EXAMPLE_CLUSTER, examplePod } from './example-cluster.ts';
import { folderWith, runPlimsoll } from './run-plimsoll.ts';

const folder = folderWith({
  'cluster.json': clusterFile(),
  'pod.yaml':
    'apiVersion: v1\nkind: Pod\nmetadata: { name: huge }\nspec: { containers: [{ name: m, resources: { limits: { cpu: 5 } } }] }\n',
  'lost.yaml':
    'apiVersion: v1\nkind: Pod\nmetadata: { name: lost }\nspec: { priorityClassName: lost, containers: [] }\n',
  'claiming.yaml':
    'apiVersion: v1\nkind: Pod\nmetadata: { name: claiming }\nspec: { resourceClaims: [{ name: gpu, resourceClaimName: g }], containers: [{ name: m }] }\n',
  'service.yaml': 'apiVersion: v1\nkind: Service\nmetadata: { name: x }\n',
});
const cluster = join(folder, 'cluster.json');
const NOTE =
  'Note: volumes, dynamic resources and scores are not simulated; kube-scheduler may look at a part of the nodes only\n';

const ROOM = { cpu: '4', memory: '8Gi', pods: '110' };
const PENDING = { name: 'pending-0', namespace: 'payments', className: '', priority: 0 };

const simulate = (...args: readonly string[]) => runPlimsoll(['simulate', 'preempt', '-f', cluster, ...args]);

describe('plimsoll simulate preempt', () => {
  test('a table says where the pod goes, who goes for it and why not elsewhere', async () => {
    expect(await simulate('--pod', 'payments/checkout-0')).toEqual({
      code: 0,
      stdout: [
        'payments/checkout-0 would be placed on node-1 after the preemption of 1 pod',
        '  node-1 is the only node where preemption makes room',
        '',
        'VICTIM              PRIORITY   CLASS   NODE',
        'reports/nightly-0   -10        batch   node-1',
        '',
        'NODES    WHY NOT',
        'node-2   a pod that opted out of preemption stands in the way',
        'node-3   node(s) were unschedulable; preemption cannot help',
        '',
        '- pod reports/archive-0 on node-2 has lower priority (-20), but the pod cannot go to that node: a pod that opted out of preemption stands in the way',
        '- pod reports/archive-0 opted out of preemption',
        '',
      ].join('\n'),
      stderr: NOTE,
    });
  });

  test('without the extender the wish is not heard', async () => {
    const { code, stdout } = await simulate('--pod', 'checkout-0', '-n', 'payments', '--no-extender', '-o', 'json');
    const { victims, nodes } = JSON.parse(stdout) as Answer;
    expect({ code, nodes, victims: victims.map(({ pod }) => pod) }).toEqual({
      code: 0,
      nodes: ['node-2'],
      victims: ['reports/archive-0'],
    });
  });

  test('a pod from a file gets the priority and requests that the API server would give it', async () => {
    const { code, stdout } = await simulate('--pod-file', join(folder, 'pod.yaml'), '-o', 'yaml');
    const { outcome, otherNodes, metadata, priority } = parse(stdout) as Answer;
    expect({
      code,
      outcome,
      metadata,
      priority,
      reasons: otherNodes.map(({ reason, count }) => [count, reason]),
    }).toEqual({
      code: 1,
      outcome: 'notPlaceable',
      metadata: { namespace: 'default', name: 'huge' },
      priority: 0,
      reasons: [
        [2, 'Insufficient cpu; preemption cannot help'],
        [1, 'node(s) were unschedulable; preemption cannot help'],
      ],
    });
  });

  test('a snapshot may come from standard input', async () => {
    const run = await runPlimsoll(['simulate', 'preempt', '-f', '-', '--pod', 'payments/checkout-0'], clusterFile());
    expect(run.code).toBe(0);
  });

  test('a fit that only kube-scheduler can check is not called one', async () => {
    const { code, stdout } = await simulate('--pod-file', join(folder, 'claiming.yaml'));
    expect(code).toBe(0);
    const [line] = stdout.split('\n');
    expect(line).toBe(
      'not known whether default/claiming fits without preemption on node-1, node-2: only kube-scheduler checks ResourceClaim gpu',
    );
  });

  /* The only free room, 1 CPU of node-1, is promised: kube-scheduler counts the nominated pod as placed, then without it. */
  test.each([
    ['of equal priority', 0, 'notPlaceable'],
    ['of higher priority', 5, 'notPlaceable'],
    ['of lower priority', -1, 'fits'],
  ])('a nominated pod %s', async (_, priority, outcome) => {
    const nominated = examplePod({
      name: 'next-0',
      namespace: 'payments',
      className: '',
      priority,
      cpu: '4',
      status: { nominatedNodeName: 'free' },
    });
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'free' }, status: { allocatable: ROOM } };
    const items = [node, nominated, examplePod({ ...PENDING, cpu: '1' })];
    const run = await runPlimsoll(
      ['simulate', 'preempt', '-f', '-', '--pod', 'payments/pending-0', '-o', 'json'],
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    );
    const answer = JSON.parse(run.stdout) as Answer & { explanations: readonly { text: string }[] };
    const holding = `pod payments/next-0 (priority ${priority}) is nominated to free and holds room there`;
    expect({ outcome: answer.outcome, texts: answer.explanations.map(({ text }) => text) }).toEqual({
      outcome,
      texts: outcome === 'fits' ? [] : [holding],
    });
  });

  test('budgets that hold take the last node away', async () => {
    const budget = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'nightly', namespace: 'reports' },
      spec: { selector: { matchLabels: { app: 'nightly' } } },
    };
    const args = ['simulate', 'preempt', '-f', '-', '--pod', 'payments/checkout-0'];
    const input = clusterFile([...EXAMPLE_CLUSTER, budget]);
    expect((await runPlimsoll(args, input)).code).toBe(0);
    expect((await runPlimsoll([...args, '--budgets', 'Hard'], input)).code).toBe(1);
  });

  test.each([
    [
      'a pod that is not there',
      ['--pod', 'default/checkout-0'],
      'pod default/checkout-0 not found; there is payments/checkout-0',
    ],
    [
      'a pod that runs',
      ['--pod', 'payments/ledger-0'],
      'pod payments/ledger-0 runs on node-2 already; to place another one like it, pass its manifest with --pod-file',
    ],
    [
      'a file without a pod',
      ['--pod-file', join(folder, 'service.yaml')],
      `${join(folder, 'service.yaml')}: expected a Pod`,
    ],
    [
      'an unknown class',
      ['--pod-file', join(folder, 'lost.yaml')],
      `${join(folder, 'lost.yaml')}: document 1: pods "lost" is forbidden: no PriorityClass with name lost was found`,
    ],
  ])('%s is an error', async (_, args, message) => {
    expect(await simulate(...args)).toEqual({ code: 2, stdout: '', stderr: `error: ${message}\n` });
  });

  test('an object that cannot be read is named with its field', async () => {
    const broken = examplePod({ name: 'broken', namespace: 'a', className: 'c', priority: 1, cpu: 'many' });
    const run = await runPlimsoll(['simulate', 'preempt', '-f', '-', '--pod', 'a/b'], clusterFile([broken]));
    expect(run.stderr).toBe(
      'error: standard input, item 1: Pod "broken": spec.containers[0].resources.requests.cpu: ' +
        'expected a quantity such as 500m, 2 or 1Gi, got "many"\n',
    );
  });
});

interface Answer {
  readonly metadata: object;
  readonly priority: number;
  readonly outcome: string;
  readonly nodes: readonly string[];
  readonly victims: readonly { readonly pod: string }[];
  readonly otherNodes: readonly { readonly reason: string; readonly count: number }[];
}
