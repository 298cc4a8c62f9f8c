import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { planPreemption, type PreemptionPlan } from '#shared/domain/preemption/plan/plan-preemption.ts';
import { buildNode, buildPod } from '#test/build/cluster.ts';
import type { RandomSource } from '#test/fakes/random-source.ts';

/** Of `makeFakeNodes`. */
const CPUS = 8;
/** Priorities of pods that may be preempted; the incoming pod is at `TOP`, or among them. */
export const PRIORITIES = 40;
const TOP = 100;
const MOST_PODS = 6;

/** A pod of a scenario. Priorities are different within one, so that kube-scheduler has no ties to decide. */
export interface ScenarioPod {
  readonly name: string;
  readonly node: string;
  readonly priority: number;
  readonly isProtected: boolean;
  readonly cpu: number;
}

/** Some nodes for itself, full pods on them, and one pod that wants to come. */
export interface Scenario {
  readonly name: string;
  readonly nodes: readonly string[];
  readonly pods: readonly ScenarioPod[];
  readonly incoming: { readonly name: string; readonly priority: number; readonly cpu: number };
}

/** What must come of a scenario. */
export interface Expected {
  /** Nodes that the incoming pod may be placed on; none where it must wait. */
  readonly nodes: readonly string[];
  /** Names of the pods that are gone then, by node, sorted. */
  readonly victims: ReadonlyMap<string, readonly string[]>;
}

/** A scenario on these nodes; `share` of the pods are protected. */
export function randomScenario(name: string, nodes: readonly string[], share: number, random: RandomSource): Scenario {
  const priorities = shuffled(PRIORITIES, random);
  const pods = nodes.flatMap((node, at) => fill(node, { name, at, share, priorities }, random));
  const priority = random.chance(0.8) ? TOP : random.below(PRIORITIES);
  return { name, nodes, pods, incoming: { name: `${name}-incoming`, priority, cpu: 1 + random.below(CPUS) } };
}

interface Filling {
  readonly name: string;
  readonly at: number;
  readonly share: number;
  readonly priorities: number[];
}

function fill(node: string, { name, at, share, priorities }: Filling, random: RandomSource): readonly ScenarioPod[] {
  const pods: ScenarioPod[] = [];
  for (let left = CPUS; left > 0 && pods.length < MOST_PODS; left -= pods.at(-1)?.cpu ?? 0) {
    const cpu = 1 + random.below(Math.min(4, left));
    const isProtected = random.chance(share);
    pods.push({ name: `${name}-${at}-${pods.length}`, node, priority: priorities.pop() ?? 0, isProtected, cpu });
  }
  return pods;
}

function shuffled(count: number, random: RandomSource): number[] {
  const numbers = Array.from({ length: count }, (_, number) => number);
  return numbers
    .map((number) => [random.next(), number] as const)
    .sort(([a], [b]) => a - b)
    .map(([, number]) => number);
}

/** What kube-scheduler does by its own rules, if it may not take the protected pods. */
export function expectedOf({ nodes, pods, incoming }: Scenario): Expected {
  const snapshot = createSnapshot({
    nodes: nodes.map((name) => buildNode({ name, allocatable: { cpu: String(CPUS), memory: '32Gi' } })),
    pods: pods.map(({ name, node, priority, cpu }) =>
      buildPod({ name, node, priority, requests: { cpu: String(cpu) } }),
    ),
  });
  const stays = new Set(pods.filter(({ isProtected }) => isProtected).map(({ name }) => name));
  const pod = buildPod({ name: incoming.name, priority: incoming.priority, requests: { cpu: String(incoming.cpu) } });
  return resultOf(planPreemption(snapshot, pod, { mayTake: ({ name }) => !stays.has(name) }));
}

function resultOf(plan: PreemptionPlan): Expected {
  if (plan.kind === 'fits') return { nodes: plan.nodes, victims: new Map() };
  if (plan.kind !== 'preempt') return { nodes: [], victims: new Map() };
  const best = plan.candidates.filter(({ node }) => plan.best.includes(node));
  const namesOf = (victims: (typeof best)[number]['victims']) => victims.map(({ pod }) => pod.name).sort();
  return { nodes: plan.best, victims: new Map(best.map(({ node, victims }) => [node, namesOf(victims)])) };
}
