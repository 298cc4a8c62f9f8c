import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { queuedPod } from '#test/cli/example-queues.ts';
import { takenList } from '#test/cli/node-pressures.ts';
import { folderWith, runPlimsoll } from '#test/cli/run-plimsoll.ts';

/* Situations that people of comparable software met: what counts as room, and what as used. */

function queue(team: string, spec: object = {}): object {
  const selector = { namespaceSelector: { matchLabels: { team } } };
  return {
    apiVersion: 'plimsoll.dev/v1alpha1',
    kind: 'Queue',
    metadata: { name: team },
    spec: { ...selector, ...spec },
  };
}

function team(name: string, spec: object = {}): readonly object[] {
  const labels = { team: name, 'plimsoll.dev/queues': 'managed' };
  return [queue(name, spec), { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }];
}

function node(name: string, cpu: number, spec: object = {}, isReady = true): object {
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'Unknown' }];
  const allocatable = { cpu: `${cpu}`, memory: '64Gi', pods: '110' };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec, status: { allocatable, conditions } };
}

function many(namespace: string, count: number, more: { readonly node?: string } = {}): readonly object[] {
  return Array.from({ length: count }, (_, index) =>
    queuedPod(namespace, { name: `${namespace}-${more.node ?? 'waits'}-${index}`, cpu: 1, minute: 1, ...more }),
  );
}

const OPEN = [node('node-1', 4), node('node-2', 4)];
const CLOSED = node('node-3', 8, {
  unschedulable: true,
  taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }],
});
const TWO_TEAMS = [...team('batch'), ...team('research')];
const FULL = [...many('batch', 4, { node: 'node-1' }), ...many('batch', 4, { node: 'node-2' })];
const LOST = queuedPod('batch', { name: 'old', cpu: 4, minute: 1, node: 'node-9' }) as {
  readonly metadata: object;
};
const OVERDUE = { deletionTimestamp: '2026-01-01T11:00:00Z', deletionGracePeriodSeconds: 30 };
const ALLOWED = { 'plimsoll.dev/evict': 'never' };

const folder = folderWith({
  'closed.json': takenList([...OPEN, CLOSED, ...TWO_TEAMS, ...FULL, ...many('research', 8)]),
  'absent.json': takenList([...OPEN, ...TWO_TEAMS, ...FULL, ...many('research', 8)]),
  'lost.json': takenList([
    ...[node('node-9', 8, {}, false), node('node-1', 8), ...team('batch', { max: { cpu: '4' } })],
    { ...LOST, metadata: { ...LOST.metadata, ...OVERDUE } },
    queuedPod('batch', { name: 'new', cpu: 4, minute: 2 }),
  ]),
  'pods.json': takenList([node('node-1', 80), ...team('batch', { max: { pods: '2' } }), ...many('batch', 5)]),
  'names.json': takenList([
    ...[node('node-1', 80), ...team('batch', { max: { 'requests.cpu': '2', gpu: '1', 'limits.memory': '1Gi' } })],
    ...many('batch', 1),
  ]),
  'missing-type.json': takenList([
    ...[node('node-1', 80), ...team('batch', { guaranteed: { 'example.com/gpu': '4' } }), ...many('batch', 1)],
  ]),
  'outside.json': takenList([
    ...[node('node-1', 8), ...team('batch'), ...many('batch', 8)],
    ...['no-such-node', 'node-1'].map((nodeName) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `on-${nodeName}`, namespace: 'default', uid: nodeName, annotations: ALLOWED },
      spec: {
        nodeName,
        containers: [{ name: 'm', resources: { requests: { cpu: nodeName === 'node-1' ? '3' : '1000' } } }],
      },
      status: { phase: 'Pending' },
    })),
  ]),
});

interface Answer {
  readonly queues: readonly { readonly name: string; readonly deserved: Readonly<Record<string, string>> }[];
  readonly letIn: readonly { readonly pod: string; readonly victims: readonly string[] }[];
  readonly waiting: readonly { readonly because: { readonly text: string } }[];
  readonly notes: readonly string[];
}

async function simulate(file: string, ...args: readonly string[]): Promise<Answer> {
  const run = await runPlimsoll(['simulate', 'queue', '-f', join(folder, file), '-o', 'json', ...args]);
  return JSON.parse(run.stdout) as Answer;
}

describe('what counts as room and as used', () => {
  test('a cordoned node is no room: the answer is that without the node', async () => {
    const [closed, absent] = [
      await simulate('closed.json', '--reclaim-by=Shares'),
      await simulate('absent.json', '--reclaim-by=Shares'),
    ];
    expect(closed).toEqual(absent);
    expect(closed.queues.map(({ deserved }) => deserved['cpu'])).toEqual(['8', '4', '4']);
    expect(closed.letIn.flatMap(({ victims }) => victims)).toHaveLength(4);
  });

  test('the pod of a lost node that should have ended holds nothing', async () => {
    expect((await simulate('lost.json')).letIn.map(({ pod }) => pod)).toEqual(['batch/new']);
  });

  test('a maximum of pods counts pods', async () => {
    const { letIn, waiting } = await simulate('pods.json');
    expect([letIn.length, waiting.map(({ because }) => because.text)]).toEqual([
      2,
      Array<string>(3).fill('waits for 1 pods: queue batch is at its maximum 2'),
    ]);
  });

  test('names that no pod can request are said', async () => {
    const { notes } = await simulate('names.json');
    expect(notes.filter((note) => note.includes('has no effect'))).toEqual([
      'queue batch: max.requests.cpu has no effect: no pod can request requests.cpu; use cpu',
      'queue batch: max.gpu has no effect: no pod can request gpu',
      'queue batch: max.limits.memory has no effect: no pod can request limits.memory',
    ]);
  });

  test('a guarantee of a type that no node reports is said', async () => {
    expect((await simulate('missing-type.json')).notes).toContain(
      'example.com/gpu: guaranteed 4, available 0: no node reports it',
    );
  });

  test('pods that name a node take at most what it has', async () => {
    expect((await simulate('outside.json')).letIn).toHaveLength(5);
  });
});
