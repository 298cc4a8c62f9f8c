import { describe, expect, test } from 'vitest';
import { EXAMPLE_CLUSTER, examplePod } from './example-cluster.ts';
import { QUEUE_CLUSTER, queuedPod } from './example-queues.ts';
import { NODE_PRESSURES, takenList } from './node-pressures.ts';
import { runPlimsoll } from './run-plimsoll.ts';

const NIGHTLY = examplePod({
  name: 'nightly-0',
  namespace: 'reports',
  className: 'batch',
  priority: -10,
  cpu: '3',
  node: 'node-1',
  metadata: {
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'nightly', uid: 'job', controller: true }],
    annotations: { 'plimsoll.dev/evict': 'never', 'plimsoll.dev/class-rule': 'workers/jobs' },
  },
});
const POLICY = {
  apiVersion: 'plimsoll.dev/v1alpha1',
  kind: 'NodePressurePolicy',
  metadata: { name: 'zone-a' },
  spec: { mode: 'Enforce', nodeSelector: { matchLabels: { 'topology.kubernetes.io/zone': 'a' } } },
};
const QUOTA = {
  apiVersion: 'plimsoll.dev/v1alpha1',
  kind: 'PriorityQuota',
  metadata: { name: 'critical' },
  spec: { priorityClassNames: ['critical'], hard: { 'requests.cpu': '10', pods: '5' } },
  status: {
    used: { 'requests.cpu': '7', pods: '2' },
    byNamespace: [
      { namespace: 'payments', used: { 'requests.cpu': '2', pods: '2' } },
      { namespace: 'reports', used: { 'requests.cpu': '5', pods: '0' } },
    ],
  },
};
const isNightly = (object: object) => JSON.stringify(object).includes('"name":"nightly-0"');
const INPUT = takenList([
  ...EXAMPLE_CLUSTER.filter((each) => !isNightly(each)),
  NIGHTLY,
  ...NODE_PRESSURES,
  POLICY,
  QUOTA,
]);
const explain = (...args: readonly string[]) => runPlimsoll(['explain', ...args, '-f', '-'], INPUT);

describe('plimsoll explain pod', () => {
  test('a pod that would be evicted next', async () => {
    expect(await explain('pod', 'reports/nightly-0')).toEqual({
      code: 0,
      stdout: [
        'Pod:                       reports/nightly-0',
        'Priority:                  -10',
        'Priority class:            batch',
        'Class given by rule:       workers/jobs',
        'Preemption policy:         PreemptLowerPriority',
        'QoS class:                 Burstable',
        'Node:                      node-1',
        'Owner:                     Job/nightly',
        'Node pressure policy:      zone-a (Enforce)',
        'Place in eviction order:   1: uses 2Gi memory, over its request of 1Gi, priority -10',
        'Protected from eviction:   the pod asked never to be evicted',
        'Protected from preemption: no',
        'Disruption budgets:        <none>',
        'Room:                      <none>',
        'Avoided nodes:             node-1 until 2026-01-01T12:10:00.000Z: evicted for memory.available',
        'Removed pods of its owner: <none>',
        '',
      ].join('\n'),
      stderr: '',
    });
  });

  test.each([
    ['reports/archive-0', { protectedFromPreemption: 'pod reports/archive-0 opted out of preemption' }],
    ['payments/ledger-0', { disruptionBudgets: ['ledger (0 disruptions allowed)'], protectedFromEviction: 'no' }],
    ['payments/ledger-0', { evictionOrder: 'not among the pods that would be evicted next' }],
    ['payments/checkout-0', { evictionOrder: 'none; see plimsoll why-not', node: '' }],
  ])('%s: %j', async (pod, expected) => {
    expect(JSON.parse((await explain('pod', pod, '-o', 'json')).stdout)).toMatchObject(expected);
  });
});

describe('plimsoll explain pod says who holds the room', () => {
  const AT = '2026-01-01T11:59:00Z';
  const managedFields = [
    { manager: 'kubectl', time: '2026-01-01T08:00:00Z', fieldsV1: { 'f:spec': {} } },
    { manager: 'kube-scheduler', time: AT, fieldsV1: { 'f:status': { 'f:nominatedNodeName': {} } } },
  ];
  const pod = { namespace: 'payments', className: '', cpu: '4' };
  const preempted = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' };
  const room = { allocatable: { cpu: '4', memory: '8Gi', pods: '110' } };
  const items = takenList([
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'full' }, status: room },
    examplePod({
      ...pod,
      name: 'victim-0',
      priority: 0,
      node: 'full',
      status: { conditions: [preempted] },
      metadata: { deletionTimestamp: '2026-01-01T12:00:20Z', deletionGracePeriodSeconds: 30 },
    }),
    examplePod({
      ...pod,
      name: 'next-0',
      priority: 9,
      metadata: { managedFields },
      status: { nominatedNodeName: 'full' },
    }),
    examplePod({
      ...pod,
      name: 'waiting-0',
      priority: 5,
      spec: {
        containers: [{ name: 'main', resources: { requests: { cpu: '4' } } }],
        volumes: [{ name: 'disk', persistentVolumeClaim: { claimName: 'disk' } }],
      },
    }),
  ]);
  const NOMINATED = `pod payments/next-0 (priority 9) is nominated to full and holds room there, since ${AT} at the latest`;
  const LEAVING = 'pod payments/victim-0 on full is terminating; its grace period ends in 20 s';

  test.each([
    ['victim-0', [NOMINATED, LEAVING]],
    ['waiting-0', ['not known whether it fits: only kube-scheduler checks Volume disk', NOMINATED, LEAVING]],
  ])('%s', async (name, lines) => {
    const run = await runPlimsoll(['explain', 'pod', `payments/${name}`, '-f', '-'], items);
    expect(run.stdout.split('\n').find((line) => line.startsWith('Room:'))).toBe(
      `Room:                      ${lines.join('; ')}`,
    );
  });
});

describe('plimsoll explain pod says in which queue it stands', () => {
  const inCluster = (name: string, more: readonly object[] = []) =>
    runPlimsoll(['explain', 'pod', name, '-f', '-'], takenList([...QUEUE_CLUSTER, ...more]));
  const queueLine = ({ stdout }: { readonly stdout: string }) =>
    stdout
      .split('\n')
      .find((line) => line.startsWith('Queue:'))
      ?.replace(/^Queue: +/, '');

  test('and what it waits for', async () => {
    const waiting = queuedPod('research', { name: 'notebook-1', cpu: 2, minute: 7 });
    expect(queueLine(await inCluster('research/notebook-1', [waiting]))).toMatch(/^research: /);
  });

  test('since when it is let in', async () => {
    const admitted = { 'plimsoll.dev/admitted': JSON.stringify({ queue: 'batch', at: '2026-01-01T00:00:00.000Z' }) };
    const running = queuedPod('batch', { name: 'big', cpu: 1, minute: 1, node: 'node-1', annotations: admitted });
    expect(queueLine(await inCluster('batch/big', [running]))).toBe('batch, let in at 2026-01-01T00:00:00.000Z');
  });

  test('and nothing of queues where pods do not wait', async () => {
    expect(queueLine(await explain('pod', 'reports/nightly-0'))).toBeUndefined();
  });
});

describe('plimsoll explain TYPE/NAME', () => {
  test.each([
    ['pod/archive-0', '-n', 'reports'],
    ['po', 'pod/archive-0', '-n', 'reports'],
    ['pods', 'reports/archive-0'],
    ['quota/critical'],
    ['prquota', 'priorityquota/critical'],
  ])('%s', async (...words) => {
    const { code, stdout } = await explain(...words, '-o', 'jsonpath={.kind} {.metadata.name}');
    const isPod = words[0].startsWith('po');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: isPod ? 'PodExplanation archive-0' : 'QuotaExplanation critical',
    });
  });

  test('a quota is no pod', async () => {
    expect((await explain('quota', 'pod/critical')).stderr).toBe(
      'error: expected NAME or quota/NAME, got pod/critical\n',
    );
  });
});

describe('plimsoll explain quota', () => {
  test('what is left, and who holds the rest', async () => {
    expect(await explain('quota', 'critical')).toEqual({
      code: 0,
      stdout: [
        'critical: priority classes critical',
        '',
        'RESOURCE       HARD   USED   FREE   LARGEST NAMESPACES',
        'pods           5      2      3      payments (2)',
        'requests.cpu   10     7      3      reports (5), payments (2)',
        '',
      ].join('\n'),
      stderr: '',
    });
  });

  test('an unknown one names those that exist', async () => {
    expect(await explain('quota', 'gold')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'error: PriorityQuota gold not found; there are critical\n',
    });
  });
});
