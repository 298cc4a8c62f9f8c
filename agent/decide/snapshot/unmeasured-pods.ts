import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { RankingFacts } from '#shared/domain/ranking/candidate.ts';
import type { NodeSnapshot } from './node-snapshot.ts';
import { REASONS } from '#agent/messages.ts';

/**
 * Pods are measured at least every ten seconds: after this long without a measurement no source has their statistics.
 */
const LONGEST_MS = 30_000;

type Seen = Pick<NodeSnapshot, 'pods' | 'usage' | 'now'>;

function isRunning({ pod }: RankingFacts): boolean {
  return pod.status.phase === 'Running';
}

/** Since when no running pod of the node has had statistics; `undefined` while one has them, or no pod runs. */
export function advanceUnmeasured(previous: Instant | undefined, { pods, usage, now }: Seen): Instant | undefined {
  const isAnyMeasured = usage.size > 0 && pods.running.some(({ pod }) => usage.has(pod.uid));
  return isAnyMeasured || !pods.running.some(isRunning) ? undefined : (previous ?? now);
}

/** The reason when pods run and none has statistics: none can be ranked or evicted. */
export function noStatistics(
  since: Instant | undefined,
  { pods, now }: Pick<Seen, 'pods' | 'now'>,
): Because | undefined {
  if (since === undefined || now - since < LONGEST_MS) return undefined;
  const count = pods.running.filter(isRunning).length;
  const seconds = Math.round((now - since) / 1000);
  return REASONS.noPodStatistics({ pods: count, seconds }, { pods: count, seconds });
}
