import { MOST_SKEW_MS } from '#shared/domain/model/clock-skew.ts';
import type { Deletion, Instant } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { isFreshReport } from '#shared/domain/snapshot/freshness.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import { sheetOf } from '#shared/domain/snapshot/node-sheet.ts';

/** Pods of a node, by index, that leave it without a preemption. */
export type LeavingPods = readonly number[];

/** A pod that should have terminated this long ago may never do so, so its room does not count. In milliseconds. */
export const HANGING_AFTER_MS = 60_000;
const NONE: LeavingPods = [];
const NO_PODS: ReadonlySet<string> = new Set();

/** Pods that are terminating for any cause, and pods that the node's agent is evicting. Mechanism S0-26. */
export function leavingPods(snapshot: ClusterSnapshot, entry: NodeEntry, now: Instant): LeavingPods {
  const { terminating, pods } = sheetOf(entry);
  const evicting = evictingOn(snapshot, entry.node.name, now);
  if (terminating.length === 0 && evicting.size === 0) return NONE;
  const isLeaving = terminating.filter((index) => endsSoon(pods[index]?.pod.deletion, now));
  const evicted = pods.flatMap(({ pod }, index) =>
    pod.deletion === undefined && evicting.has(pod.uid) ? [index] : [],
  );
  return [...isLeaving, ...evicted];
}

/** By a clock that is far behind, a hanging pod would end soon for as long: its grace period is the most that can be left. */
function endsSoon(deletion: Deletion | undefined, now: Instant): boolean {
  if (deletion === undefined) return false;
  const { at, gracePeriodSeconds = Infinity } = deletion;
  return now <= at + HANGING_AFTER_MS && at - now <= gracePeriodSeconds * 1_000 + MOST_SKEW_MS;
}

function evictingOn({ pressures }: ClusterSnapshot, node: string, now: Instant): ReadonlySet<string> {
  const facts = pressures.get(node);
  return facts !== undefined && facts.isEnforced && isFreshReport(facts.observedAt, now) ? facts.evicting : NO_PODS;
}
