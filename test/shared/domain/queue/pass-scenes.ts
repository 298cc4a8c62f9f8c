import fc from 'fast-check';
import { minus, type Whole } from '#shared/domain/quantity/whole.ts';
import type { PassSnapshot } from '#shared/domain/queue/pass-stages.ts';
import type { Queue, QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import { ownUsage, queue, waiting } from './builders.ts';

const TYPES = ['cpu', 'memory', 'gpu'] as const;
/** Two families and two queues of their own, so that pods may also stand in a queue with children. */
const PARENTS: Readonly<Record<string, string | undefined>> = {
  a: undefined,
  'a.1': 'a',
  'a.2': 'a',
  b: undefined,
  'b.1': 'b',
  'b.2': 'b',
  c: undefined,
  d: undefined,
};
const NAMES = Object.keys(PARENTS);
const LEAVES = ['a.1', 'a.2', 'b.1', 'b.2', 'c', 'd'];
const ROOT_CHILDREN = 4;
const MAX_TOTAL = 60;
const PER_MILLE = 1_000;

/** Amounts of the three types, each 0 to `most`. */
const amounts = (most: number) => fc.tuple(...TYPES.map(() => fc.nat(most))).map((drawn) => amountsOf(...drawn));

function amountsOf(...drawn: readonly number[]): QueueAmounts {
  return new Map(TYPES.map((type, index) => [type, drawn[index] ?? 0]));
}

interface DrawnQueue {
  readonly weight: number;
  /** Of what the queue may be guaranteed so that all guarantees together are within the total. */
  readonly guaranteedPerMille: number;
  /** Above the guarantee; nothing for no maximum. */
  readonly more: QueueAmounts | undefined;
}

const drawnQueue: fc.Arbitrary<DrawnQueue> = fc.record({
  weight: fc.integer({ min: 1, max: 9 }),
  guaranteedPerMille: fc.oneof(fc.constant(0), fc.nat(PER_MILLE)),
  more: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, amounts(40)),
});

interface DrawnPod {
  readonly queue: string;
  readonly requests: QueueAmounts;
  readonly isOnNode: boolean;
}

const drawnPod: fc.Arbitrary<DrawnPod> = fc.record({
  queue: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...LEAVES) }, fc.constantFrom(...NAMES, 'deleted'), {
    weight: 9,
    arbitrary: fc.constant('c'),
  }),
  requests: amounts(5),
  isOnNode: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.constant(false)),
});

const waitingPod = fc
  .record({
    queue: fc.constantFrom(...LEAVES),
    requests: amounts(3),
    priority: fc.nat(2),
    mayPreempt: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.constant(false)),
    waitingSince: fc.integer({ min: -100, max: 0 }),
  })
  .map((drawn): WaitingPod => waiting('', drawn.queue, drawn));

/** Snapshots in which the pods on nodes are within the total and the guarantees of siblings within that of their parent. */
export const passSnapshots: fc.Arbitrary<PassSnapshot> = fc
  .record({
    total: amounts(MAX_TOTAL),
    queues: fc.tuple(...NAMES.map(() => drawnQueue)),
    pods: fc.array(drawnPod, { maxLength: 16, size: 'max' }),
    waitingPods: fc.array(waitingPod, { maxLength: 16, size: 'max' }),
    reclaimBy: fc.constantFrom('Shares' as const, 'Guarantees' as const),
    isReclaiming: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
  })
  .map(({ total, queues, pods, waitingPods, ...rest }) => {
    const onNodes = withinTotal(pods, total);
    const waitingNamed = waitingPods.map((pod, index) => ({ ...pod, uid: `w-${index}`, name: `w-${index}` }));
    return {
      tree: createQueueTree(describeQueues(queues, total)),
      total,
      admitted: ownUsage(pods),
      used: ownUsage(onNodes),
      requested: ownUsage([...pods, ...waitingNamed]),
      waiting: waitingNamed,
      ...rest,
    };
  });

function withinTotal(pods: readonly DrawnPod[], total: QueueAmounts): readonly DrawnPod[] {
  const free = new Map(total);
  return pods.filter(({ isOnNode, requests }) => {
    if (!isOnNode || [...requests].some(([type, amount]) => amount > (free.get(type) ?? 0))) return false;
    for (const [type, amount] of requests) free.set(type, minus(free.get(type) ?? 0, amount));
    return true;
  });
}

function describeQueues(drawn: readonly DrawnQueue[], total: QueueAmounts): readonly Queue[] {
  const guarantees = new Map<string, QueueAmounts>();
  return NAMES.map((name, index) => {
    const { weight, guaranteedPerMille, more } = drawn[index] as DrawnQueue;
    const parent = PARENTS[name];
    const above = parent === undefined ? total : guarantees.get(parent);
    const siblings = parent === undefined ? ROOT_CHILDREN : 2;
    const guaranteed = mapAmounts((type) =>
      Math.floor((Number(above?.get(type)) * guaranteedPerMille) / PER_MILLE / siblings),
    );
    guarantees.set(name, guaranteed);
    const max =
      more === undefined ? {} : { max: mapAmounts((type) => Number(guaranteed.get(type)) + Number(more.get(type))) };
    return queue(name, parent, { weight, guaranteed, ...max });
  });
}

function mapAmounts(amountFor: (type: string) => Whole): QueueAmounts {
  return new Map(TYPES.map((type) => [type, amountFor(type)]));
}
