import { describe, expect, test } from 'vitest';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { withWayOut } from '#shared/decide/queues/rollouts.ts';
import { decodeAdmitted, encodeAdmitted } from '#shared/api/admitted.ts';
import { GATE, queueFor, queueWorld, type WatchedPod } from './queue-world.ts';

const letIn = (plan: QueuePlan) => plan.letIn.map(({ name, against }) => [name, Number(against?.get('cpu')) / 1_000]);
const NOW_MS = 100_000;

/** A pod of revision `hash` of a Deployment. */
function podOf(name: string, hash: string, change: Partial<WatchedPod> = {}, deployment = 'web'): WatchedPod {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${deployment}-${hash}`, uid: `rs-${hash}` };
  return {
    name,
    labels: { 'pod-template-hash': hash },
    owners: [{ ...owner, controller: true }],
    ...change,
  };
}

const RUNNING = { node: 'node-0', phase: 'Running', admittedTo: 'of-shop' } as const;

/** A Deployment of three pods in a queue that may have three CPUs. */
function world(max = 3, cpu = 1) {
  const made = queueWorld([queueFor('shop', { max: { cpu: max } })]);
  for (const name of ['old-1', 'old-2', 'old-3']) made.see(podOf(name, 'aaa', { ...RUNNING, cpu }));
  return { ...made, at: (now = NOW_MS) => made.plan(true, 'Guarantees', { now }) };
}

const against = (name: string, hash: string, count: number, change: Partial<WatchedPod> = {}) =>
  podOf(name, hash, { ...RUNNING, admittedAt: NOW_MS / 1_000, against: count, ...change });

describe('a rollout in a full queue', () => {
  test('goes on one pod at a time, and the next goes in only when the Deployment has as many pods as before', () => {
    const { see, gone, at } = world();
    see(podOf('new-1', 'bbb', { gates: [GATE] }));
    see(podOf('new-2', 'bbb', { gates: [GATE], createdAt: 1 }));
    expect(letIn(at())).toEqual([['shop/new-1', 3]]);
    see(against('new-1', 'bbb', 3));
    expect(letIn(at())).toEqual([]);
    expect(at().heldRollouts.get('uid-new-2')).toContain('Deployment shop/web of queue of-shop has to finish');
    gone('old-1');
    expect(letIn(at())).toEqual([['shop/new-2', 3]]);
  });

  test('goes against the same pod in whatever order the watch shows those of two older revisions', () => {
    const [small, large] = [podOf('a', 'aaa', { ...RUNNING, cpu: 1 }), podOf('b', 'bbb', { ...RUNNING, cpu: 3 })];
    const decided = [
      [small, large],
      [large, small],
    ].map((shown) => {
      const { see, plan } = queueWorld([queueFor('shop', { max: { cpu: 4 } })]);
      for (const pod of [...shown, podOf('new', 'ccc', { gates: [GATE], cpu: 3 })]) see(pod);
      return letIn(plan(true, 'Guarantees', { now: NOW_MS }));
    });
    expect(decided).toEqual([[], []]);
  });

  test('is undone the same way', () => {
    const { see, at } = world();
    see(podOf('new-1', 'bbb', { ...RUNNING, cpu: 1 }));
    see(podOf('back', 'aaa', { gates: [GATE] }));
    expect(letIn(at(NOW_MS))).toEqual([['shop/back', 4]]);
  });

  test('is no way to grow: neither by more pods of one revision nor by those of other owners', () => {
    const { see, at } = world();
    see(podOf('more', 'aaa', { gates: [GATE] }));
    see(podOf('other', 'ccc', { gates: [GATE] }, 'api'));
    see({ name: 'alone', gates: [GATE] });
    see(podOf('named', 'bbb', { gates: [GATE], labels: {} }));
    expect(letIn(at())).toEqual([]);
  });

  test('of several Deployments of a queue goes on in one at a time', () => {
    const { see, at } = world(4);
    see(podOf('api-old', 'ccc', RUNNING, 'api'));
    see(podOf('api-new', 'ddd', { gates: [GATE] }, 'api'));
    see(podOf('new-1', 'bbb', { gates: [GATE], createdAt: 1 }));
    expect(letIn(at())).toEqual([['shop/api-new', 4]]);
  });

  test('with larger pods waits, and says the way out', () => {
    const { see, at } = world();
    see(podOf('new-1', 'bbb', { gates: [GATE], cpu: 2 }));
    const plan = at();
    expect(letIn(plan)).toEqual([]);
    const because = { code: 'AtMaximum', text: 'waits', facts: {} };
    expect(withWayOut(because, plan.heldRollouts, { uid: 'uid-new-1' }).text).toContain(
      'raise the maximum of queue of-shop',
    );
  });

  test('with larger pods goes on where they fit once the others are gone', () => {
    const { see, at } = world(4);
    see({ name: 'x', ...RUNNING, cpu: 0 });
    see(podOf('new-1', 'bbb', { gates: [GATE], cpu: 2 }));
    expect(letIn(at())).toEqual([['shop/new-1', 3]]);
  });
});

describe('a rollout of a DaemonSet that creates pods first (maxSurge)', () => {
  const onNode = (name: string, node: string, hash: string, change: Partial<WatchedPod> = {}): WatchedPod => {
    const terms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }];
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } };
    return {
      name,
      labels: { 'controller-revision-hash': hash },
      owners: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'logs', uid: 'ds', controller: true }],
      spec: { affinity },
      ...change,
    };
  };
  const logs = () => {
    const made = queueWorld([queueFor('shop', { max: { cpu: 2 } })], { 'node-0': 8, 'node-1': 8, 'node-2': 8 });
    for (const node of ['node-0', 'node-1']) made.see(onNode(`old-${node}`, node, 'aaa', { ...RUNNING, node }));
    return { ...made, at: () => made.plan(true, 'Guarantees', { now: NOW_MS }) };
  };

  test('goes on against the old pod of the same node', () => {
    const { see, at } = logs();
    see(onNode('new', 'node-1', 'bbb', { gates: [GATE] }));
    expect(letIn(at())).toEqual([['shop/new', 2]]);
  });

  test('is no way to grow: a pod of a further node waits, and so does a second one of this node', () => {
    const { see, at } = logs();
    see(onNode('further', 'node-2', 'bbb', { gates: [GATE] }));
    see(onNode('same', 'node-1', 'aaa', { gates: [GATE] }));
    expect(letIn(at())).toEqual([]);
  });
});

describe('a queue above its maximum, as where a namespace is switched on', () => {
  test('keeps as many pods of a Deployment as it had, while they are replaced', () => {
    const { see, gone, at } = world(1);
    see(podOf('old-1', 'aaa', { ...RUNNING, deletionAt: 130 }));
    see(podOf('new-1', 'bbb', { gates: [GATE] }));
    see(podOf('new-2', 'bbb', { gates: [GATE], createdAt: 1 }));
    expect(letIn(at())).toEqual([['shop/new-1', 3]]);
    see(against('new-1', 'bbb', 3));
    for (const name of ['old-1', 'old-2', 'old-3']) gone(name);
    expect(letIn(at())).toEqual([['shop/new-2', 3]]);
    expect(letIn(at(NOW_MS + 900_000))).toEqual([]);
  });

  test('a pod that is evicted to make room is not replaced like that', () => {
    const { see, at } = world(2);
    see(podOf('old-1', 'aaa', { ...RUNNING, deletionAt: 130, isDisrupted: true }));
    see(podOf('again', 'aaa', { gates: [GATE] }));
    expect(letIn(at())).toEqual([]);
  });

  test('counts pods that ran before the namespace was managed', () => {
    const made = queueWorld([queueFor('late', { max: { cpu: 1 } })]);
    for (const name of ['a', 'b'])
      made.see(podOf(name, 'aaa', { namespace: 'late', node: 'node-0', phase: 'Running' }));
    made.manage('late', { team: 'late', 'plimsoll.dev/queues': 'managed' });
    made.see(podOf('new', 'bbb', { namespace: 'late', gates: [GATE] }));
    expect(letIn(made.plan(true))).toEqual([['late/new', 2]]);
  });
});

describe('a tenant that says something else of pods that went in against others', () => {
  /** A queue that is exactly full, and the pods that the tenant has had let in one after the other. */
  function grow(disguise: (pod: WatchedPod, at: number) => WatchedPod): readonly string[] {
    const { see, at } = world();
    const entered: string[] = [];
    for (let turn = 1; turn <= 3; turn += 1) {
      const made = podOf(`new-${turn}`, `b${turn}`, { gates: [GATE], createdAt: turn });
      see(made);
      const found = at(NOW_MS + turn * 1_000).letIn.find(({ name }) => name === `shop/new-${turn}`);
      if (found === undefined) continue;
      entered.push(made.name);
      const cpu = Number(found.against?.get('cpu')) / 1_000;
      see(disguise({ ...made, ...RUNNING, gates: [], admittedAt: NOW_MS / 1_000 + turn, against: cpu }, turn));
    }
    return entered;
  }

  test.each<[string, (pod: WatchedPod, at: number) => WatchedPod]>([
    ['that it is of no Deployment', (pod) => ({ ...pod, labels: {} })],
    ['that no controller owns it', (pod) => ({ ...pod, owners: [] })],
    [
      'that it is of another Deployment',
      (pod, at) => ({ ...pod, ...podOf('x', `b${at}`, {}, `other-${at}`), name: pod.name }),
    ],
  ])('%s has one pod more at most', (_, disguise) => {
    expect(grow(disguise)).toEqual(['new-1']);
  });

  test('nor does it grow by taking the replaced pods out of the Deployment', () => {
    const { see, at } = world();
    see(podOf('new-1', 'bbb', { gates: [GATE] }));
    expect(letIn(at())).toEqual([['shop/new-1', 3]]);
    see(against('new-1', 'bbb', 3));
    for (const name of ['old-1', 'old-2', 'old-3']) see({ ...podOf(name, 'aaa', RUNNING), labels: {} });
    see(podOf('new-2', 'bbb', { gates: [GATE] }));
    see(podOf('new-3', 'ccc', { gates: [GATE] }));
    expect(letIn(at())).toEqual([]);
  });

  test('nor by deleting small pods for large ones', () => {
    const { see, gone, at } = queueWorldOfSizes();
    see(podOf('new-1', 'bbb', { gates: [GATE], cpu: 2 }));
    expect(letIn(at())).toEqual([['shop/new-1', 4]]);
    see(against('new-1', 'bbb', 4, { cpu: 2 }));
    gone('small-1');
    see(podOf('new-2', 'ccc', { gates: [GATE], cpu: 2 }));
    expect(letIn(at())).toEqual([]);
  });

  function queueWorldOfSizes() {
    const made = queueWorld([queueFor('shop', { max: { cpu: 4 } })]);
    made.see(podOf('large', 'aaa', { ...RUNNING, cpu: 2 }));
    for (const name of ['small-1', 'small-2']) made.see(podOf(name, 'aaa', RUNNING));
    return { ...made, at: () => made.plan(true, 'Guarantees', { now: NOW_MS }) };
  }
});

test('the mark says what the queue used, and says it again', () => {
  const facts = { queue: 'q', application: 'a', mayPreempt: true, mayBePreempted: true, at: 0, decision: 'd' };
  const against = new Map<string, number | bigint>([
    ['cpu', 1_500],
    ['memory', 9_007_199_254_740_993n],
  ]);
  const text = encodeAdmitted({ ...facts, against });
  expect(JSON.parse(text)).toMatchObject({ against: { cpu: '1500m', memory: expect.any(String) as unknown } });
  expect(decodeAdmitted(text)?.against).toEqual(against);
});
