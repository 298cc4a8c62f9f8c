import { type Deletion, type Instant, type Pod, MAX_SKEW_MS } from '#shared/domain/pod/pod.ts';
import { type ClusterSnapshot, isFreshReport } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { type NodeEntry, sheetOf } from '#shared/domain/snapshot/node-entry.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';

/** Pods of a node, by index, that leave it without a preemption. */
export type LeavingPods = readonly number[];

/** A pod of a node that ends without a preemption, and when. */
export interface EndingPod {
  /** In the node's order of importance. */
  readonly index: number;
  readonly endsAt: Instant;
  /** If it still exists after that, it may never end. */
  readonly hangsAfter: Instant;
}

/** A pod that is overdue by this much may never terminate, so its room does not count. In milliseconds. */
export const HANGING_AFTER_MS = 60_000;
/** The longest delay of a preemption, from the deletion of a pod that it waits for. In milliseconds. */
export const MAX_WAIT_MS = 60_000;
/** The time that a kubelet needs after the end of a grace period to remove the pod. In milliseconds. */
const FINISHING_MS = 10_000;
/** Default if the pod does not set it. */
const DEFAULT_GRACE_SECONDS = 30;
const NONE: readonly never[] = [];
const NO_PODS: ReadonlySet<string> = new Set();

/** Pods that are terminating for any reason, and pods that the node's agent is evicting. Mechanism S0-26. */
export function leavingPods(snapshot: ClusterSnapshot, entry: NodeEntry, now: Instant): LeavingPods {
  const { terminating, pods } = sheetOf(entry);
  const evicted = evictedPods(snapshot, entry, now);
  if (terminating.length === 0 && evicted.length === 0) return NONE;
  return [...terminating.filter((index) => endsOnce(pods[index]?.pod.deletion, now)), ...evicted];
}

/**
 * The leaving pods that a preemption can wait for: those that are gone within a minute of their deletion. A pod with a
 * longer grace period, or one that has outlived it, may hold its room indefinitely (docs/contributing/decisions/extender.md).
 */
export function endingSoon(snapshot: ClusterSnapshot, entry: NodeEntry, now: Instant): readonly EndingPod[] {
  const { terminating, pods } = sheetOf(entry);
  const evicted = evictedPods(snapshot, entry, now);
  if (terminating.length === 0 && evicted.length === 0) return NONE;
  const ending = [...terminating, ...evicted].map((index) => ({ index, ...endOf(pods[index] as PlacedPod, now) }));
  return ending.filter(({ endsAt }) => endsAt <= now + MAX_WAIT_MS);
}

/** The grace period with which a preemption removes a pod, in milliseconds. */
export function graceOf({ spec }: Pick<Pod, 'spec'>): number {
  return (spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1_000;
}

/**
 * `Infinity` for a pod that must not be waited for. An eviction has just begun; the pod's own grace period is ahead.
 */
function endOf({ pod }: PlacedPod, now: Instant): Omit<EndingPod, 'index'> {
  const { at, gracePeriodSeconds = Infinity } = pod.deletion ?? {
    at: now + graceOf(pod),
    gracePeriodSeconds: graceOf(pod) / 1_000,
  };
  const hangsAfter = Math.min(at + FINISHING_MS, at - gracePeriodSeconds * 1_000 + MAX_WAIT_MS);
  const isEnding = at <= hangsAfter && now <= hangsAfter && (pod.deletion === undefined || endsOnce(pod.deletion, now));
  return { endsAt: isEnding ? at : Infinity, hangsAfter };
}

/**
 * With a clock that is far behind, a hanging pod would seem to end soon: its grace period is the most that can be left.
 */
function endsOnce(deletion: Deletion | undefined, now: Instant): boolean {
  if (deletion === undefined) return false;
  const { at, gracePeriodSeconds = Infinity } = deletion;
  return now <= at + HANGING_AFTER_MS && at - now <= gracePeriodSeconds * 1_000 + MAX_SKEW_MS;
}

/** Pods that the agent evicts and that are not known to be terminating yet. */
function evictedPods(snapshot: ClusterSnapshot, entry: NodeEntry, now: Instant): LeavingPods {
  const evicting = evictingOn(snapshot, entry.node.name, now);
  if (evicting.size === 0) return NONE;
  return sheetOf(entry).pods.flatMap(({ pod }, index) =>
    pod.deletion === undefined && evicting.has(pod.uid) ? [index] : [],
  );
}

function evictingOn({ pressures }: ClusterSnapshot, node: string, now: Instant): ReadonlySet<string> {
  const facts = pressures.get(node);
  return facts !== undefined && facts.isEnforced && isFreshReport(facts.observedAt, now) ? facts.evicting : NO_PODS;
}
