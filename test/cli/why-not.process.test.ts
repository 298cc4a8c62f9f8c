import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { clusterModel } from '#cli/cluster/cluster-model.ts';
import { findPod } from '#cli/cluster/find-pod.ts';
import { pendingReason } from '#cli/why-not/pending-reason.ts';
import { clusterFile, EXAMPLE_CLUSTER, examplePod, type ExamplePod, priorityClass } from './example-cluster.ts';
import { takenList } from './node-pressures.ts';
import { runPlimsoll } from './run-plimsoll.ts';
import { manifestsOf } from './vector-cluster.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const waiting = (fields: Partial<ExamplePod>): object =>
  examplePod({ name: 'waiting', namespace: 'payments', className: 'batch', priority: -30, cpu: '4', ...fields });
const whyNot = (input: string, ...args: readonly string[]) => runPlimsoll(['why-not', '-f', '-', ...args], input);

function reasonOf(pod: object) {
  const model = clusterModel({
    manifests: manifestsOf([...EXAMPLE_CLUSTER, pod]),
    now: NOW,
    namespace: 'default',
  });
  return pendingReason(model, findPod(model, 'payments/waiting', ''), {
    extender: true,
    budgets: 'BestEffort',
    now: NOW,
  });
}

describe('pendingReason', () => {
  test.each<[string, Partial<ExamplePod>, string]>([
    ['a pod on a node is not explained', { node: 'node-1' }, 'Placed'],
    ['a pod that ended is not explained', { status: { phase: 'Failed' } }, 'Ended'],
    [
      'a pod that a kubelet refused has lost a race (S0-20)',
      { spec: { nodeName: 'n0' }, status: { phase: 'Failed', reason: 'OutOfcpu' } },
      'RefusedByKubelet',
    ],
    ['a gate is named', { spec: { schedulingGates: [{ name: 'example.com/wait' }] } }, 'Gated'],
    [
      'a terminating pod is not scheduled',
      { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', name: 'waiting', namespace: 'payments' } },
      'Terminating',
    ],
    ['a pod that fits waits for the scheduler', { cpu: '100m' }, 'Fits'],
    ['a pod that never preempts waits for room', { spec: { preemptionPolicy: 'Never' } }, 'NeverPreempts'],
    ['a pod that makes room is about to', { priority: 1000, cpu: '2' }, 'onlyCandidate'],
    ['a pod without room', {}, 'noCandidate'],
  ])('%s', (_, fields, code) => {
    expect(reasonOf(waiting(fields)).because.code).toBe(code);
  });

  test('another scheduler, and what was said last, are mentioned', () => {
    const conditions = [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }];
    const pod = waiting({ spec: { schedulerName: 'plimsoll' }, status: { conditions } });
    expect(reasonOf(pod).explanations.map(({ code, text }) => [code, text])).toEqual([
      [
        'OtherScheduler',
        'scheduler plimsoll is to place it; see that it runs and is set up like the default scheduler',
      ],
      ['LastAttempt', 'kube-scheduler: 0/3 nodes are available'],
    ]);
  });
});

describe('plimsoll why-not', () => {
  const apart = {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        {
          topologyKey: 'topology.kubernetes.io/zone',
          namespaces: ['payments'],
          labelSelector: { matchLabels: { app: 'ledger' } },
        },
      ],
    },
  };

  test('the pod on another node that keeps it away is named (S0-3, S1-21)', async () => {
    const pod = waiting({ priority: 500, cpu: '100m', spec: { affinity: apart } });
    expect(await whyNot(clusterFile([...EXAMPLE_CLUSTER, pod]), 'payments/waiting')).toEqual({
      code: 0,
      stdout: [
        'payments/waiting: it would not be placed on any node: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, ' +
          "2 node(s) didn't match pod anti-affinity rules.",
        '',
        'NODES           WHY NOT',
        "node-1,node-2   node(s) didn't match pod anti-affinity rules, even without all pods of lower priority",
        'node-3          node(s) were unschedulable; preemption cannot help',
        '',
        '- pod payments/ledger-0 on node-2 keeps the pod off node-1 by anti-affinity; no pod is removed from one node to make room on another',
        '',
      ].join('\n'),
      stderr: '',
    });
  });

  test('the pod of lower priority that it requires to be with is named (S1-20)', async () => {
    const labelSelector = { matchLabels: { app: 'partner' } };
    const term = { topologyKey: 'kubernetes.io/hostname', namespaces: ['reports'], labelSelector };
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    const metadata = { name: 'partner', namespace: 'reports', labels: { app: 'partner' } };
    const batch = { namespace: 'reports', className: 'batch', priority: -40, cpu: '1' };
    const partner = examplePod({ name: 'partner', ...batch, node: 'node-2', metadata });
    const pod = waiting({ priority: 500, cpu: '3', spec: { affinity } });
    const { stdout } = await whyNot(clusterFile([...EXAMPLE_CLUSTER, partner, pod]), 'payments/waiting');
    expect(stdout).toContain(
      '- the pod requires affinity to pod reports/partner on node-2, whose priority -40 is lower; ' +
        'preemption takes all lower pods off a node first, and then the affinity is not met',
    );
  });

  describe('with a loop of preemptions in a NodePressure', () => {
    const party = (namespace: string, name: string) => ({ namespace, kind: 'Pod', name });
    const loop = (fields: object = {}) => ({
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'NodePressure',
      metadata: { name: 'node-1' },
      spec: {
        preemptionLoops: [
          {
            preemptor: party('reports', 'nightly-0'),
            victim: party('payments', 'checkout-0'),
            rounds: ['2026-01-01T11:10:00Z', '2026-01-01T11:20:00Z', '2026-01-01T11:30:00Z'],
            until: '2026-01-01T12:10:00Z',
            priority: 1_000_000,
            action: 'Refuse',
            ...fields,
          },
        ],
      },
    });
    const because = async (...args: readonly [object, ...string[]]) => {
      const [pressure, ...flags] = args;
      const input = takenList([...EXAMPLE_CLUSTER, pressure]);
      return (await whyNot(input, 'checkout-0', '-n', 'payments', ...flags)).stdout;
    };
    const SIDES =
      'pods of payments/Pod/checkout-0 and reports/Pod/nightly-0 displace each other: 3 times within 60 min, last on node node-1';

    test('the pod does not preempt the other side, and both are named (S0-21)', async () => {
      expect(await because(loop())).toContain(SIDES);
      const { stdout } = await runPlimsoll(
        ['simulate', 'preempt', '-f', '-', '--pod', 'payments/checkout-0'],
        takenList([...EXAMPLE_CLUSTER, loop()]),
      );
      expect(stdout).toContain(SIDES);
    });

    test.each<[string, object]>([
      ['that has ended', { until: '2026-01-01T11:59:00Z' }],
      ['that only is reported', { action: 'Report' }],
      ['that an avoid entry breaks', { action: 'Avoid' }],
      ['with too few rounds', { action: undefined }],
      ['with rounds in the future', { rounds: ['2026-01-01T12:02:00Z'], until: '2026-01-01T13:02:00Z' }],
      ['of pods of lower priority', { priority: 1 }],
      ['between others', { victim: party('payments', 'other') }],
    ])('a loop %s refuses nothing', async (_, fields) => {
      expect(await because(loop(fields))).toBe(await because(loop({ victim: undefined })));
    });

    test('a loop counts before an opt-out, as with the extender (S2-29)', async () => {
      const keep = priorityClass('batch', -10, { 'plimsoll.dev/allow-preemption': 'false' });
      const others = EXAMPLE_CLUSTER.filter((each) => !isDeepStrictEqual(each, priorityClass('batch', -10)));
      expect(others).toHaveLength(EXAMPLE_CLUSTER.length - 1);
      const input = takenList([...others, keep, loop()]);
      const { stdout } = await whyNot(input, 'checkout-0', '-n', 'payments');
      expect(stdout).toContain(SIDES);
    });

    test('a scheduler without the extender does not know it', async () => {
      expect(await because(loop(), '--no-extender')).not.toContain('displace');
    });
  });

  test('without a name every pending pod has a line', async () => {
    const input = takenList([...EXAMPLE_CLUSTER, waiting({ namespace: 'reports' })]);
    const { stdout } = await whyNot(input, '-A');
    expect(stdout.split('\n').map((line) => line.split(/ {3,}/).slice(0, 5))).toEqual([
      ['NAMESPACE', 'NAME', 'PRIORITY', 'CODE', 'AGE'],
      ['payments', 'checkout-0', '1000', 'onlyCandidate', '4h'],
      ['reports', 'waiting', '-30', 'noCandidate', '4h'],
      [''],
    ]);
    expect((await whyNot(input, '-n', 'reports')).stdout).not.toContain('checkout');
  });

  test('a preemptor whose victim hangs is listed with that reason (S1-24)', async () => {
    const metadata = { name: 'victim', namespace: 'reports', deletionTimestamp: '2026-01-01T11:00:00Z' };
    const node = 'node-2';
    const batch = { namespace: 'reports', className: 'batch', priority: -40, cpu: '1' };
    const victim = examplePod({ name: 'victim', ...batch, node, metadata });
    const stuck = waiting({ namespace: 'reports', status: { phase: 'Pending', nominatedNodeName: node } });
    const { stdout } = await whyNot(takenList([...EXAMPLE_CLUSTER, victim, stuck]), '-n', 'reports');
    expect(stdout.split('\n')[1]?.split(/ {3,}/)).toEqual([
      'waiting',
      '-30',
      'VictimHangs',
      '4h',
      'pod reports/victim on node-2 is still terminating although its grace period is over; ' +
        'look for finalizers on it, and whether the kubelet of the node answers',
    ]);
  });

  test('JSON for a program, and a sentence where no pod waits', async () => {
    const { stdout } = await whyNot(clusterFile(), 'checkout-0', '-n', 'payments', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      kind: 'PendingPod',
      metadata: { namespace: 'payments', name: 'checkout-0' },
      because: { facts: { node: 'node-1' } },
    });
    expect(await whyNot(clusterFile(), '-n', 'reports')).toMatchObject({
      stdout: '',
      stderr: 'no pending pod found\n',
    });
  });
});
