/**
 * How long one reclaim decision takes on 5,000 full nodes of 30 pods in 100 queues, one of which is under its guarantee:
 * where two pods have to go, where no pod may, and where every node has a better set than the one before. JSON on stdout,
 * times in milliseconds; `longestStep` is the longest that the event loop is held, and `cpuMs` the processor time of a
 * decision, which other programs on the machine change less.
 */
import { plainQueue, type Queue } from '#shared/domain/queue/queue.ts';
import { type RunningPod, type WaitingPod, compareGoingFirst } from '#shared/domain/queue/queue-pod.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import type { GivingNode } from '#shared/domain/queue/givers.ts';
import { decideReclaimInSteps, type ReclaimQuestion } from '#shared/domain/queue/reclaim.ts';
import { sumUsage } from '#shared/domain/queue/usage.ts';
import { cpuSeconds } from '#bench/shared/support/cpu-seconds.ts';
import { quantile, rounded } from '#bench/shared/support/quantile.ts';

const NODES = 5_000;
const PODS_PER_NODE = 30;
const QUEUES = 100;
const GOALS = { decision: 50, longestStep: 20 };
const ROUNDS = 31;
const GIB = 2 ** 30;

const REQUESTS = new Map([
  ['cpu', 1_000],
  ['memory', 2 * GIB],
]);

/** The same number below `bound` for the same index on every machine. */
function draw(index: number, bound: number): number {
  return (Math.imul(index + 1, 0x9e3779b1) >>> 8) % bound;
}

function createPod(index: number, startedAt: number): RunningPod {
  return {
    uid: `uid-${index}`,
    name: `team/pod-${index}`,
    queue: `queue-${1 + draw(index, QUEUES - 1)}`,
    application: `app-${draw(index * 3, 5_000)}`,
    priority: draw(index * 5, 3),
    requests: REQUESTS,
    isOriginator: index % 100 === 0,
    isDaemonSet: false,
    mayBePreempted: index % 20 !== 0,
    startedAt,
    hasController: true,
    ownerDisruptedAt: undefined,
    budgets: [],
  };
}

function createNodes(startOf: (index: number) => number): readonly GivingNode[] {
  return Array.from({ length: NODES }, (_, node) => {
    const pods = Array.from({ length: PODS_PER_NODE }, (__, at) => {
      const index = node * PODS_PER_NODE + at;
      return createPod(index, startOf(index));
    });
    return {
      name: `node-${node}`,
      free: new Map([
        ['cpu', 500],
        ['memory', GIB],
      ]),
      pods: pods.sort(compareGoingFirst),
    };
  });
}

const PENDING: WaitingPod = {
  uid: 'pending',
  name: 'team/pending',
  queue: 'queue-0',
  application: 'pending',
  priority: 5,
  requests: new Map([
    ['cpu', 2_000],
    ['memory', 4 * GIB],
  ]),
  isOriginator: false,
  isDaemonSet: false,
  waitingSince: 0,
  mayPreempt: true,
  isCharged: true,
};

function createQuestion(nodes: readonly GivingNode[], guaranteed: number): ReclaimQuestion {
  const queues = Array.from({ length: QUEUES }, (_, index): Queue => {
    const amount = index === 0 ? 10_000_000 : guaranteed;
    return { ...plainQueue(`queue-${index}`), guaranteed: new Map([['cpu', amount]]) };
  });
  const tree = createQueueTree(queues);
  const used = new Map<string, Map<string, number>>();
  for (const { queue, requests } of nodes.flatMap(({ pods }) => pods)) {
    const sums = used.get(queue) ?? new Map<string, number>();
    used.set(queue, sums);
    for (const [type, amount] of requests) sums.set(type, (sums.get(type) ?? 0) + Number(amount));
  }
  return { tree, usage: sumUsage(tree, used), pod: PENDING, now: 1_000_000_000, nodes, budgets: new Map() };
}

function measure(question: ReclaimQuestion) {
  const decisions: number[] = [];
  const steps: number[] = [];
  const cpu: number[] = [];
  let outcome = '';
  for (let round = 0; round < ROUNDS; round += 1) {
    const running = decideReclaimInSteps(question);
    const cpuBefore = cpuSeconds();
    const start = performance.now();
    let longest = 0;
    for (;;) {
      const before = performance.now();
      const step = running.next();
      longest = Math.max(longest, performance.now() - before);
      if (step.done !== true) continue;
      outcome = step.value.kind === 'reclaim' ? `${step.value.victims.length} victims` : step.value.because.code;
      break;
    }
    decisions.push(performance.now() - start);
    cpu.push((cpuSeconds() - cpuBefore) * 1_000);
    steps.push(longest);
  }
  const of = (times: readonly number[]) => ({
    p50: rounded(quantile(times, 0.5)),
    p99: rounded(quantile(times, 0.99)),
  });
  return { outcome, decisionMs: of(decisions), cpuMs: of(cpu), longestStepMs: of(steps) };
}

const shuffled = createNodes((index) => draw(index * 7, 1_000_000) * 1_000);
const rising = createNodes((index) => index * 1_000);
console.log(
  JSON.stringify(
    {
      nodes: NODES,
      pods: NODES * PODS_PER_NODE,
      queues: QUEUES,
      goalsMs: GOALS,
      twoPodsGo: measure(createQuestion(shuffled, 1_000_000)),
      everyNodeBetter: measure(createQuestion(rising, 1_000_000)),
      noPodMayGo: measure(createQuestion(shuffled, 100_000_000)),
    },
    undefined,
    2,
  ),
);
