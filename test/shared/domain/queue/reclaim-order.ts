import fc from 'fast-check';
import type { Queue } from '#shared/domain/queue/queue.ts';
import { decideReclaim } from '#shared/domain/queue/reclaim.ts';
import { type JudgedCase, type JudgedPod, smallestSets } from '#test/conformance/queue-judge.ts';
import { cpu, node, policyOf, question, queue, running, waiting } from './builders.ts';

const LEAVES = ['root.a', 'root.b', 'root.c.1', 'root.c.2'] as const;
const NODES = ['n1', 'n2'] as const;
const DELAY_MS = 30_000;

/** A pod of the drawn cluster: what the judge reads, and when it started. */
type DrawnPod = JudgedPod & { readonly startedAt: number };

interface Drawn {
  readonly scenario: Omit<JudgedCase, 'running'> & { readonly running: readonly DrawnPod[] };
  readonly preferNear: boolean;
  readonly waitedMs: number;
}

const rarely = fc.nat(4).map((number) => number === 0);
const pod = fc.record({
  queue: fc.constantFrom(...LEAVES),
  app: fc.constantFrom('x', 'y'),
  priority: fc.nat(2),
  size: fc.nat(2).map((number) => number + 1),
  node: fc.constantFrom(...NODES),
  spared: rarely,
  originator: rarely,
  daemonSet: rarely,
  startedAt: fc.nat(3),
});

/** Clusters about originators, delay, preferNear, pods of DaemonSets and the order: what the recorded cases leave out. */
export const orderScenarios: fc.Arbitrary<Drawn> = fc
  .record({
    pods: fc.array(pod, { minLength: 1, maxLength: 8 }),
    floors: fc.tuple(fc.nat(12), fc.nat(3), fc.nat(3), fc.nat(3)),
    taker: fc.constantFrom('root.a', 'root.c.1'),
    size: fc.nat(3).map((number) => number + 1),
    priority: fc.nat(2),
    daemonSet: rarely,
    fenced: rarely,
    preferNear: fc.boolean(),
    waitedMs: fc.constantFrom(0, DELAY_MS - 1, DELAY_MS, DELAY_MS, 3 * DELAY_MS),
  })
  .map(({ pods, floors, taker, fenced, preferNear, waitedMs, ...pending }) => {
    const drawn = pods.map(({ size, spared, ...rest }, index) => ({
      ...rest,
      name: `pod-${index}`,
      request: { cpu: size },
      allowPreemption: !spared,
    }));
    const floorOf = new Map<string, number>([[taker, floors[0] + 4]]);
    LEAVES.forEach((name, index) => floorOf.set(name, floorOf.get(name) ?? floors[index] ?? 0));
    const sizeOf = (name: string): number =>
      drawn.filter((each) => each.node === name).reduce((sum, { request }) => sum + request.cpu, 0);
    const scenario = {
      queues: [
        { name: 'root' },
        { name: 'root.c', parent: 'root', ...(fenced && { policy: 'fence' }) },
        ...LEAVES.map((name) => ({
          name,
          parent: name.slice(0, name.lastIndexOf('.')),
          guaranteed: { cpu: floorOf.get(name) ?? 0 },
        })),
      ],
      nodes: NODES.map((name) => ({ name, capacity: { cpu: sizeOf(name) } })),
      running: drawn,
      pending: {
        name: 'pending',
        queue: taker,
        app: 'x',
        priority: pending.priority,
        request: { cpu: pending.size },
        ...(pending.daemonSet && { node: 'n1' }),
      },
    };
    return { scenario, preferNear, waitedMs };
  });

/** What the product decides: names of victims in order. */
function decided({ scenario, preferNear, waitedMs }: Drawn): readonly string[] {
  const queues = scenario.queues.map(({ name, parent, guaranteed, policy }): Queue => ({
    ...queue(name, parent, { guaranteed: cpu(Number(guaranteed?.['cpu'] ?? 0)) }),
    preemption: { ...policyOf(policy === 'fence' ? 'Fence' : 'Default').preemption, delayMs: DELAY_MS, preferNear },
  }));
  const pods = scenario.running.map((each) =>
    running(each.name, each.queue, {
      application: each.app,
      priority: each.priority ?? 0,
      requests: cpu(Number(each.request['cpu'])),
      isOriginator: each.originator === true,
      isDaemonSet: each.daemonSet === true,
      mayBePreempted: each.allowPreemption !== false,
      startedAt: each.startedAt,
    }),
  );
  const nodes = scenario.nodes.map(({ name, capacity }) => {
    const here = pods.filter((_, index) => scenario.running[index]?.node === name);
    return node(name, cpu(Number(capacity['cpu'])), here);
  });
  const { pending } = scenario;
  const taker = waiting('pending', pending.queue, {
    application: pending.app,
    priority: pending.priority ?? 0,
    requests: cpu(Number(pending.request['cpu'])),
    waitingSince: -waitedMs,
    isDaemonSet: pending.node !== undefined,
    ...(pending.node !== undefined && { node: pending.node }),
  });
  const decision = decideReclaim(question(queues, nodes, taker));
  return decision.kind === 'reclaim' ? decision.victims.map(({ name }) => name) : [];
}

/** What each victim weighs, most important figure first; the set with the lightest last victim goes. */
function weights(drawn: Drawn, set: readonly JudgedPod[]): readonly (readonly (number | string)[])[] {
  const up = (name: string): readonly string[] => {
    const parts = name.split('.');
    return parts.map((_, index) => parts.slice(0, parts.length - index).join('.'));
  };
  const taker = up(drawn.scenario.pending.queue);
  const weight = (each: JudgedPod): readonly (number | string)[] => [
    each.allowPreemption === false ? 1 : 0,
    each.originator === true ? 1 : 0,
    each.priority ?? 0,
    drawn.preferNear ? taker.findIndex((name) => up(each.queue).includes(name)) : 0,
    -(drawn.scenario.running.find(({ name }) => name === each.name)?.startedAt ?? 0),
    each.name,
  ];
  return set.map(weight).sort(compare).reverse();
}

function compare(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  if (at < 0) return 0;
  return (a[at] ?? 0) < (b[at] ?? 0) ? -1 : 1;
}

/** What is wrong with the product's decision; nothing if it is the one that the rules name. */
export function orderFinding(drawn: Drawn): string | undefined {
  const victims = decided(drawn);
  const sets = drawn.waitedMs < DELAY_MS ? [] : smallestSets(drawn.scenario);
  const best = sets
    .map((set) => ({ set, key: weights(drawn, set) }))
    .reduce<{ set: readonly JudgedPod[]; key: ReturnType<typeof weights> } | undefined>((lightest, each) => {
      return lightest === undefined || compareKeys(each.key, lightest.key) < 0 ? each : lightest;
    }, undefined);
  const wanted = (best?.set ?? []).map(({ name }) => name).sort();
  const given = victims.toSorted();
  return JSON.stringify(wanted) === JSON.stringify(given)
    ? undefined
    : `wanted ${String(wanted)}, got ${String(given)}`;
}

function compareKeys(a: ReturnType<typeof weights>, b: ReturnType<typeof weights>): number {
  for (const [index, weight] of a.entries()) {
    const difference = compare(weight, b[index] ?? []);
    if (difference !== 0) return difference;
  }
  return 0;
}
