/**
 * How long the shares of 10,000 queues in four levels take, three resource types each: from nothing, and after one
 * changed request. JSON on stdout, times in milliseconds; the tree is counted apart.
 */
import { finish } from '#shared/domain/base/steps.ts';
import { plainQueue, type Queue, type QueueAmounts } from '#shared/domain/queue/queue.ts';
import { createQueueTree, type QueueTree } from '#shared/domain/queue/queue-tree.ts';
import { createShares, refreshShares, setRequested, type ShareQuestion } from '#shared/domain/queue/shares.ts';
import { quantile, rounded } from '#bench/shared/support/quantile.ts';

const CHILDREN = [10, 10, 10, 9];
const TYPES = ['cpu', 'memory', 'nvidia.com/gpu'];
const GOALS = { fromNothing: 100, oneChange: 5 };
const ROUNDS = 21;
const CHANGES = 201;
const LARGEST = 2_000_000;

/** The same number below `bound` for the same index on every machine. */
function draw(index: number, bound: number): number {
  return (Math.imul(index + 1, 0x9e3779b1) >>> 8) % bound;
}

function amounts(index: number, most: number): QueueAmounts {
  return new Map(TYPES.map((type, at) => [type, draw(index * TYPES.length + at, most)]));
}

function createQueues(parent: string | undefined, level: number): readonly Queue[] {
  return Array.from({ length: CHILDREN[level] ?? 0 }, (_, child) => {
    const name = parent === undefined ? `q${child}` : `${parent}.${child}`;
    return { name, parent };
  }).flatMap(({ name }) => [plainQueue(name, parent), ...createQueues(name, level + 1)]);
}

function withBounds(queue: Queue, index: number): Queue {
  return {
    ...queue,
    weight: 1 + draw(index, 10),
    guaranteed: index % 3 === 0 ? amounts(index, LARGEST / 10) : new Map(),
    max: index % 5 === 0 ? amounts(index * 7, LARGEST) : new Map(),
  };
}

function createQuestion(tree: QueueTree): ShareQuestion {
  const leaves = tree.queues.filter((_, index) => tree.children[index]?.length === 0);
  const requested = new Map(leaves.map(({ name }, index) => [name, amounts(index * 13, LARGEST)]));
  // About half of what is requested.
  return { tree, total: new Map(TYPES.map((type) => [type, (leaves.length * LARGEST) / 4])), requested };
}

function elapsedMs(task: () => unknown): number {
  const start = performance.now();
  task();
  return performance.now() - start;
}

function summary(times: readonly number[], goal: number) {
  return { p50: rounded(quantile(times, 0.5)), p99: rounded(quantile(times, 0.99)), goal };
}

const queues = createQueues(undefined, 0).map(withBounds);
const treeMs: number[] = [];
const fromNothing: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  let tree = createQueueTree([]);
  treeMs.push(elapsedMs(() => (tree = createQueueTree(queues))));
  const question = createQuestion(tree);
  fromNothing.push(elapsedMs(() => finish(createShares(question))));
}

const tree = createQueueTree(queues);
const state = finish(createShares(createQuestion(tree)));
const oneChange = Array.from({ length: CHANGES }, (_, index) => {
  const queue = tree.queues.length - 1 - draw(index, 1_000);
  return elapsedMs(() => {
    setRequested(state, queue, amounts(index * 17 + 5, LARGEST));
    finish(refreshShares(state));
  });
});

console.log(
  JSON.stringify(
    {
      queues: tree.queues.length,
      types: TYPES.length,
      treeMs: { p50: rounded(quantile(treeMs, 0.5)) },
      fromNothingMs: summary(fromNothing, GOALS.fromNothing),
      oneChangeMs: summary(oneChange, GOALS.oneChange),
    },
    undefined,
    2,
  ),
);
