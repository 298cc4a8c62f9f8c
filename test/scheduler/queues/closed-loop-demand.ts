import type { RandomSource } from '#test/fakes/random-source.ts';
import type { WatchedPod } from '#test/shared/decide/queues/queue-world.ts';

const MAX_PODS = 40;
/** So long one queue asks for more, while the others ask for less. */
const PHASE_SECONDS = 40;
const ROLLOUT = 0.01;
const SCALED = 0.02;

/** A queue of the loop. */
export interface LoopQueue {
  readonly name: string;
  readonly guaranteed: number;
}

/** A pod as the model has it; `queue` is where its label puts it. */
export interface ModelPod extends WatchedPod {
  readonly queue: string;
  readonly cpu: number;
  readonly createdAt: number;
}

/** What owners do with their pods. */
export interface DemandPorts {
  readonly random: RandomSource;
  readonly queues: readonly LoopQueue[];
  readonly seconds: () => number;
  readonly pods: () => readonly ModelPod[];
  /** Creates a pod and returns its name. */
  readonly create: (queue: string, cpu: number, priority: number) => string;
  readonly remove: (pod: ModelPod) => void;
}

/** An owner that replaces its pods: each new one comes first, and an old one goes when it runs. */
interface Rollout {
  readonly old: string[];
  surge: string | undefined;
}

/**
 * What changes in a second: pods come to the favoured queue and end in others, a Deployment is rolled out with a surge of
 * one, an autoscaler doubles or halves the pods of a queue. A rollout whose new pod finds no room is blocked until it does.
 */
export function createDemand({ random, queues, seconds, pods, create, remove }: DemandPorts): () => void {
  const rollouts = new Map<string, Rollout>();
  const ofQueue = (queue: string): readonly ModelPod[] =>
    pods().filter((pod) => pod.queue === queue && pod.deletionAt === undefined);
  const named = (name: string | undefined): ModelPod | undefined => pods().find((pod) => pod.name === name);

  function comeAndGo(): void {
    const favoured = queues[Math.floor(seconds() / PHASE_SECONDS) % queues.length]?.name ?? '';
    if (random.chance(0.7) && pods().length < MAX_PODS) create(favoured, 1 + random.below(4), random.below(2));
    const others = pods().filter(({ queue, deletionAt }) => queue !== favoured && deletionAt === undefined);
    if (others.length > 0 && random.chance(0.4)) remove(random.pick(others));
  }

  /** Pods without a node are the first that a ReplicaSet removes. */
  function scale(queue: string): void {
    const all = ofQueue(queue).toSorted((a, b) => Number(a.node !== undefined) - Number(b.node !== undefined));
    const half = all.slice(0, Math.ceil(all.length / 2));
    if (random.chance(0.5)) for (const pod of half) remove(pod);
    else if (pods().length < MAX_PODS) for (const { cpu, priority = 0 } of half) create(queue, cpu, priority);
  }

  function roll(rollout: Rollout, queue: string): void {
    if (rollout.surge !== undefined) finishSurge(rollout);
    if (rollout.surge !== undefined) return;
    const next = named(rollout.old[0]);
    if (rollout.old.length === 0) rollouts.delete(queue);
    else if (next === undefined) rollout.old.shift();
    else rollout.surge = create(queue, next.cpu, next.priority ?? 0);
  }

  /** A new pod that is gone is none that runs. */
  function finishSurge(rollout: Rollout): void {
    const surge = named(rollout.surge);
    if (surge !== undefined && surge.node === undefined) return;
    rollout.surge = undefined;
    if (surge === undefined) return;
    const old = named(rollout.old.shift());
    if (old !== undefined) remove(old);
  }

  return () => {
    comeAndGo();
    const { name } = random.pick(queues);
    if (random.chance(SCALED)) scale(name);
    if (random.chance(ROLLOUT) && !rollouts.has(name))
      rollouts.set(name, { old: ofQueue(name).map((pod) => pod.name), surge: undefined });
    for (const [queue, rollout] of rollouts) roll(rollout, queue);
  };
}
