import type { Instant } from '#shared/domain/pod/pod.ts';
import type { AgentState } from '#agent/decide/agent-state.ts';
import type { AttemptOutcome } from '#agent/decide/apply-outcome.ts';
import type { Eviction } from '#agent/decide/eviction.ts';
import type { Mode } from '#shared/api/node-pressure-policy/mode.ts';
import type { EvictionRecord } from '#agent/decide/pass-result.ts';
import { ownerKeyOf } from '#shared/domain/pod/pod-owner.ts';

/** Largest number of records in the status. */
const MOST_RECORDS = 20;

/** The records with one more requested eviction; a second request for the same pod updates its record. */
export function noteRequest(
  records: readonly EvictionRecord[],
  eviction: Eviction,
  wallNow: Instant,
): readonly EvictionRecord[] {
  const { pod, signal, stage, mode, because } = eviction;
  const again = records.findIndex((each) => each.pod.uid === pod.uid && each.mode === mode);
  if (eviction.isShortening && again >= 0)
    return records.map((each, at) => (at === again ? { ...each, stage, because } : each));
  const record: EvictionRecord = {
    pod: { namespace: pod.namespace, name: pod.name, uid: pod.uid },
    owner: ownerKeyOf(pod),
    signal,
    stage,
    mode,
    outcome: 'requested',
    requestedAt: wallNow,
    endedAt: undefined,
    because,
  };
  return [record, ...records].slice(0, MOST_RECORDS);
}

/** The records of this process, then those of the previous one, up to the limit. */
export function joinRecords(
  records: readonly EvictionRecord[],
  earlier: readonly EvictionRecord[],
): readonly EvictionRecord[] {
  return [...records, ...earlier].slice(0, MOST_RECORDS);
}

/** The records after an answer about the newest request for a pod in one mode. */
export function noteOutcome(
  records: readonly EvictionRecord[],
  { uid, mode }: { readonly uid: string; readonly mode: Mode },
  outcome: AttemptOutcome['kind'],
): readonly EvictionRecord[] {
  const index = records.findIndex((record) => record.pod.uid === uid && record.mode === mode);
  return records.map((record, at) => (at === index ? { ...record, outcome } : record));
}

/** The records with the end times of finished evictions; the same list if none finished. */
export function noteEnds(
  records: readonly EvictionRecord[],
  { evictions }: Pick<AgentState, 'evictions'>,
  wallNow: Instant,
): readonly EvictionRecord[] {
  const underWay = new Set(
    [...evictions.Enforce.inflight, ...evictions.DryRun.inflight].map(({ mode, uid }) => `${mode} ${uid}`),
  );
  const hasEnded = ({ endedAt, mode, pod }: EvictionRecord): boolean =>
    endedAt === undefined && !underWay.has(`${mode} ${pod.uid}`);
  if (!records.some(hasEnded)) return records;
  return records.map((record) => (hasEnded(record) ? { ...record, endedAt: wallNow } : record));
}
