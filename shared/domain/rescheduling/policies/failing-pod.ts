import type { ContainerStatus, Pod } from '#shared/domain/pod/pod.ts';
import type { StalledResource } from '#shared/domain/pressure/signal.ts';
import type { Harm } from '#shared/domain/rescheduling/memory.ts';
import { FAILS } from '#shared/domain/rescheduling/messages.ts';
import type { Measurements } from '#shared/domain/rescheduling/pass-cluster.ts';
import type { BadServicePolicy } from '#shared/domain/rescheduling/policy.ts';
import type { PodFigures } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { hasTrait, type PlacedPod, TRAITS } from '#shared/domain/snapshot/placed-pod.ts';

/** How a pod fails where it runs (S3-4). */
export interface PodFailure extends Harm {
  /** The resource that it and the other pods of its node contend for. */
  readonly resource: StalledResource;
  /** The end of a sentence about the pod. */
  readonly fails: string;
}

/** Earlier counts of a pod, which no longer matter. */
export type CountedBefore = (harm: Omit<Harm, 'count'>) => number;

const NOTHING_BEFORE: CountedBefore = () => 0;

/** The first limit of the policy that a pod reaches; `undefined` if it reaches none, or nothing is known about it. */
export function failureOf(
  placed: PlacedPod,
  policy: BadServicePolicy | undefined,
  { figuresOf }: Pick<Measurements, 'figuresOf'>,
  before = NOTHING_BEFORE,
): PodFailure | undefined {
  if (policy === undefined) return undefined;
  const figures = figuresOf?.(placed.pod.uid);
  if (figures === undefined && !hasTrait(placed, TRAITS.hasEnded)) return undefined;
  const { pod } = placed;
  const { oomKills, restarts, stalls } = policy;
  const reached = (kind: 'restarts' | 'oomKills', count: number, limit = Infinity): PodFailure | undefined => {
    const isReached = count - before({ uid: pod.uid, kind }) >= limit;
    return isReached ? { uid: pod.uid, kind, count, resource: 'memory', fails: FAILS[kind](count, limit) } : undefined;
  };
  return (
    reached('oomKills', oomKillsOf(pod, figures), oomKills) ??
    reached('restarts', restartsOf(pod), restarts) ??
    stallOf(pod.uid, figures, stalls)
  );
}

const RESOURCES: readonly StalledResource[] = ['memory', 'cpu', 'io'];

/** The resource that the pod waits for longest. */
function stallOf(uid: string, figures: PodFigures | undefined, limit = Infinity): PodFailure | undefined {
  const waits = (resource: StalledResource): number => figures?.waiting[resource] ?? 0;
  const resource = RESOURCES.reduce((most, each) => (waits(each) > waits(most) ? each : most));
  const count = waits(resource);
  if (count < limit) return undefined;
  return { uid, kind: 'stalls', count, resource, fails: FAILS.stalls(count, limit, resource) };
}

function containersOf({ status }: Pod): readonly ContainerStatus[] {
  return [...status.containers, ...status.initContainers];
}

/** Restarts of all containers of a pod. */
function restartsOf(pod: Pod): number {
  return containersOf(pod).reduce((sum, { restartCount }) => sum + restartCount, 0);
}

/** The count of its agent; without an agent, all terminations of the containers that were last killed for memory. */
function oomKillsOf(pod: Pod, figures: PodFigures | undefined): number {
  if (figures?.oomKills !== undefined) return figures.oomKills;
  const killed = containersOf(pod).filter(({ endReason }) => endReason === 'OOMKilled');
  return killed.reduce((sum, { restartCount }) => sum + Math.max(1, restartCount), 0);
}
