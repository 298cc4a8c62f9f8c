import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { encodeAdmitted } from '#shared/api/admitted.ts';
import { EXAMPLE_QUEUES, QUEUE_CLUSTER, queuedPod } from '#test/cli/example-queues.ts';
import { TAKEN_AT, takenList } from '#test/cli/node-pressures.ts';
import { folderWith, runPlimsoll } from '#test/cli/run-plimsoll.ts';

const BUDGET = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'train', namespace: 'batch' },
  spec: { selector: { matchLabels: { app: 'train' } } },
  status: { disruptionsAllowed: 0 },
};
/** What was written when the pod was let in counts, not what its class says now (S2-35). */
const SPARED = { 'plimsoll.dev/admitted': JSON.stringify({ queue: 'batch', mayBePreempted: false }) };
const waiting = queuedPod('research', { name: 'notebook-1', cpu: 2, minute: 7 });

const SHARED_NODES = [
  ...QUEUE_CLUSTER.slice(2, 6),
  ...[0, 1, 2, 3].map((index) =>
    queuedPod('batch', { name: `big-${index}`, cpu: 2, minute: 1, node: `node-${1 + (index % 2)}` }),
  ),
  waiting,
];

/** Two nodes full of pods of queue `batch`, each of which would do, but for one property. */
function fullOf(
  spec: (node: string) => object,
  more: { readonly annotations?: object; readonly owners?: readonly object[] } = {},
) {
  const all = [0, 1, 2, 3].map((index) => {
    const node = `node-${1 + (index % 2)}`;
    const pod = queuedPod('batch', { name: `big-${index}`, cpu: 2, minute: 1, node, ...more });
    return { ...pod, spec: { ...(pod as { spec: object }).spec, ...spec(node) } };
  });
  return takenList([...QUEUE_CLUSTER.slice(0, 6), ...all, waiting]);
}

/** As the DaemonSet controller ties its pods. */
function tiedTo(node: string): object {
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }];
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
}

const DAEMON_SET = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'logs', uid: 'u', controller: true };
const plain = (name: string, spec: object = {}): object => ({
  apiVersion: 'plimsoll.dev/v1alpha1',
  kind: 'Queue',
  metadata: { name },
  spec: { namespaceSelector: { matchLabels: { team: name } }, ...spec },
});

/** A pod of 6 CPUs that was let in hours ago, on nodes of 4, and three that wait behind it. */
const LARGE = [
  queuedPod('batch', { name: 'large', cpu: 6, minute: 0, annotations: admittedHoursAgo('batch') }),
  ...[1, 2, 3].map((minute) => queuedPod('batch', { name: `small-${minute}`, cpu: 4, minute })),
];

function admittedHoursAgo(queue: string): object {
  const facts = { queue, application: 'large', mayPreempt: true, mayBePreempted: true, decision: 'd' };
  return { 'plimsoll.dev/admitted': encodeAdmitted({ ...facts, at: Date.parse('2026-01-01T09:00:00Z') }) };
}

function nodeOf(cpu: number): object {
  const allocatable = { cpu: String(cpu), memory: '8Gi', pods: '110' };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-3' }, status: { allocatable } };
}

/** A queue under its guarantee of CPU, and one above its own that does not use what it is guaranteed of memory. */
const STARVED = [
  plain('research', { guaranteed: { cpu: '4' } }),
  plain('batch', { guaranteed: { cpu: '2', memory: '8Gi' } }),
  ...QUEUE_CLUSTER.slice(2, 6),
  ...[1, 2, 3, 4, 5, 6].map((minute) =>
    queuedPod('batch', { name: `busy-${minute}`, cpu: 1, minute, node: `node-${1 + (minute % 2)}` }),
  ),
  ...[1, 2].map((minute) => queuedPod('research', { name: `has-${minute}`, cpu: 1, minute, node: `node-${minute}` })),
  queuedPod('research', { name: 'starved', cpu: 1, minute: 0, annotations: admittedHoursAgo('research') }),
];

/** Gated pods that run together or not at all. */
function gang(name: string, count: number, cpu: number): readonly object[] {
  const annotations = { 'plimsoll.dev/gang': name, 'plimsoll.dev/gang-size': String(count) };
  const minutes = Array.from({ length: count }, (_, minute) => minute);
  return minutes.map((minute) => queuedPod('research', { name: `${name}-${minute}`, cpu, minute, annotations }));
}

const folder = folderWith({
  'starved.json': takenList(STARVED),
  'critical.json': fullOf(() => ({ priority: 2_000_000_000 })),
  'slow.json': fullOf(() => ({ terminationGracePeriodSeconds: 601 })),
  'early.json': fullOf(() => ({}), { annotations: {} }),
  'daemon.json': fullOf(tiedTo, { owners: [DAEMON_SET] }),
  'shares.json': takenList([plain('research'), plain('batch'), ...SHARED_NODES]),
  'template.json': takenList([
    plain('teams', { namespaceSelector: {}, childTemplate: {} }),
    ...QUEUE_CLUSTER.slice(2, 6),
    waiting,
  ]),
  'released.json': takenList([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'research' } },
    ...QUEUE_CLUSTER.slice(4, 6),
    { ...waiting, spec: { schedulingGates: [{ name: 'plimsoll.dev/queue' }] } },
  ]),
  'gangs.json': takenList([
    plain('research'),
    ...QUEUE_CLUSTER.slice(2, 6),
    ...gang('fits', 3, 1),
    ...gang('wide', 1, 5),
  ]),
  'queues.json': takenList(EXAMPLE_QUEUES),
  'quiet.json': takenList(QUEUE_CLUSTER),
  'young.json': takenList([
    ...QUEUE_CLUSTER,
    JSON.parse(JSON.stringify(waiting).replaceAll(/"2026[^"]*"/g, JSON.stringify(TAKEN_AT))) as object,
  ]),
  'bad.yaml': 'apiVersion: plimsoll.dev/v1alpha1\nkind: Queue\nmetadata: { name: q }\nspec: { weight: -1 }\n',
  'circle.json': takenList([
    ...QUEUE_CLUSTER.slice(2),
    ...['research', 'other'].map((name) => ({
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'Queue',
      metadata: { name },
      spec: { parent: name === 'other' ? 'research' : 'other', namespaceSelector: {} },
    })),
    waiting,
  ]),
  'spared.json': takenList([
    ...QUEUE_CLUSTER.slice(0, 6),
    ...[0, 1, 2, 3].map((index) =>
      queuedPod('batch', {
        name: `big-${index}`,
        cpu: 2,
        minute: 1,
        node: `node-${1 + (index % 2)}`,
        annotations: SPARED,
      }),
    ),
    waiting,
  ]),
  'budget.json': takenList([...QUEUE_CLUSTER, BUDGET, waiting]),
  ...Object.fromEntries(
    [4, 16].map((cpu) => [`large-${cpu}.json`, takenList([...QUEUE_CLUSTER.slice(0, 6), ...LARGE, nodeOf(cpu)])]),
  ),
});

const simulate = (file: string, ...args: readonly string[]) =>
  runPlimsoll(['simulate', 'queue', '-f', join(folder, file), ...args]);

interface Row {
  readonly pod: string;
  readonly because: { readonly code: string; readonly text: string };
  readonly victims: readonly string[];
  readonly node?: string;
}

interface Rows {
  readonly queues: readonly { readonly name: string }[];
  readonly letIn: readonly Row[];
  readonly waiting: readonly Row[];
}

async function rowsOf(file: string, ...args: readonly string[]): Promise<Rows> {
  return JSON.parse((await simulate(file, '-o', 'json', ...args)).stdout) as never;
}

describe('plimsoll simulate queue', () => {
  test('shows the tree, who is let in, who makes room and why the others wait', async () => {
    expect(await simulate('queues.json')).toEqual({
      code: 1,
      stdout: [
        '1 pod would be let in, 1 pod would go on waiting',
        '',
        'QUEUE        WEIGHT   WAITING   RESOURCE   GUARANTEED   DESERVED   USED',
        'root         1        2         cpu        -            8          7',
        '                                memory     -            16Gi       7Gi',
        '  batch      1        1         cpu        2            4          6',
        '                                memory     -            7Gi        6Gi',
        '  research   1        1         cpu        4            4          1',
        '                                memory     -            2Gi        1Gi',
        '',
        'LET IN                QUEUE      REASON',
        'research/notebook-1   research   queue research stays within what it deserves; batch/train-5 of queue batch makes room on node node-2 for research/notebook-1: queue research is under its guarantee',
        '',
        'WAITS           QUEUE   REASON',
        'batch/train-6   batch   waits for 2 cpu: queue batch is at its deserved 5',
        '',
      ].join('\n'),
      stderr:
        'Note: volumes, dynamic resources and scores are not simulated; kube-scheduler may look at a part of the nodes only\n',
    });
  });

  test('no pod waits', async () => {
    const { code, stdout } = await simulate('quiet.json');
    expect([code, stdout.split('\n', 1)[0]]).toEqual([0, 'no pod waits in a queue']);
  });

  test('names the pods that make room and the node, for programs', async () => {
    const { letIn } = await rowsOf('queues.json');
    expect(letIn).toMatchObject([{ pod: 'research/notebook-1', node: 'node-2', victims: ['batch/train-5'] }]);
  });

  test('a pod that has not waited for the delay of its queue gets no room by others (S2-20)', async () => {
    const { letIn } = await rowsOf('young.json');
    expect(letIn[0]?.victims).toEqual([]);
    expect(letIn[0]?.because.text).toContain('other pods are evicted for it after 30 s');
  });

  test('a queue in a circle lets nothing in, and a pod without a queue waits, with the reason', async () => {
    const { letIn, waiting: held } = await rowsOf('circle.json');
    const text = 'no queue selects namespace research, and neither pod nor namespace names one';
    expect([letIn, held]).toMatchObject([
      [],
      [{ pod: 'research/notebook-1', queue: '', because: { code: 'NoQueue', text } }],
    ]);
  });

  test.each(['Guarantees', 'Shares'])(
    'by %s, a pod that has found no node for hours gets room where its queue is under its guarantee',
    async (by) => {
      const { waiting: held } = await rowsOf('starved.json', `--reclaim-by=${by}`);
      const victims = [expect.stringMatching(/^batch\/busy-/) as string];
      expect(held).toMatchObject([{ pod: 'research/starved', victims }]);
    },
  );

  test.each<[number, readonly string[], readonly string[]]>([
    [4, ['small-1', 'small-2', 'small-3'], ['large']],
    [16, ['large', 'small-1', 'small-2', 'small-3'], []],
  ])(
    'a pod that was let in and fits on no node gives its share to others, until a node of %i CPUs can hold it',
    async (cpu, entering, staying) => {
      const rows = await rowsOf(`large-${cpu}.json`, '--reclaim-by=Shares');
      const names = (some: readonly Row[]) => some.map(({ pod }) => pod.replace('batch/', ''));
      expect([names(rows.letIn), names(rows.waiting)]).toEqual([entering, staying]);
      for (const { because } of rows.waiting) expect(because.text).toContain('has found no node for');
    },
  );

  test.each([
    ['of a DaemonSet', 'daemon'],
    ['that ask for more than ten minutes to end', 'slow'],
  ])('pods %s make room where there are no others', async (_, file) => {
    expect((await rowsOf(`${file}.json`)).letIn[0]?.victims).toEqual(['batch/big-0']);
  });

  test.each(['critical', 'early'])('pods that the leader would not evict make no room: %s', async (file) => {
    const { letIn } = await rowsOf(`${file}.json`);
    expect(letIn[0]?.victims).toEqual([]);
    expect(letIn[0]?.because.text).toContain('no node has enough pods that may be evicted');
  });

  test('by shares, a queue without a guarantee gets room, too', async () => {
    expect((await rowsOf('shares.json')).letIn[0]).toMatchObject({ victims: [] });
    const { letIn } = await rowsOf('shares.json', '--reclaim-by=Shares');
    expect(letIn[0]?.victims).toHaveLength(1);
    expect(letIn[0]?.because.text).toContain('queue research is under its share');
  });

  test('pods of a namespace whose queue is made from a template are let in to it', async () => {
    const { letIn, queues } = await rowsOf('template.json');
    expect(queues.map(({ name }) => name)).toEqual(['root', 'teams', 'teams.research']);
    expect(letIn).toMatchObject([{ pod: 'research/notebook-1', queue: 'teams.research' }]);
  });

  test('the pods of a gang are shown with the nodes that are planned for all of them, or with why there is no plan', async () => {
    const { letIn, waiting: held } = await rowsOf('gangs.json');
    const placed = letIn.map(({ pod, node }) => `${pod} ${node}`);
    expect(placed).toEqual([0, 1, 2].map((index) => `research/fits-${index} node-1`));
    expect(letIn[0]?.because.text).toContain('starts on node node-1');
    expect(held[0]?.because.text).toContain('no plan: 0 of 1 pods fit; the next one needs 5 cpu');
  });

  test('a gated pod of a namespace that is not managed any longer is let in', async () => {
    expect((await rowsOf('released.json')).letIn).toMatchObject([
      { pod: 'research/notebook-1', queue: '', because: { code: 'Released' } },
    ]);
  });

  test('pods that ask to be spared go only as a last resort, which is said (S2-9)', async () => {
    const { letIn } = await rowsOf('spared.json');
    expect(letIn[0]?.victims).toHaveLength(1);
    expect(letIn[0]?.because.text).toContain('although a pod asked to be spared: no other set of pods makes room');
  });

  test('a budget keeps its pods, and is named (D-21)', async () => {
    const { letIn } = await rowsOf('budget.json');
    expect(letIn[0]?.because.text).toContain('budget batch/train allows no eviction that would make room');
  });

  test('a bad queue is refused by its field', async () => {
    const { code, stderr } = await simulate('bad.yaml');
    expect(code).toBe(2);
    expect(stderr).toContain('Queue "q": spec.weight: expected 0 to 10000, got -1');
  });
});
