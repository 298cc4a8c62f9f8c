import type { Instant } from '#shared/domain/model/pod.ts';
import type { AgentState } from '#agent/decide/agent-state.ts';
import type { AttemptOutcome } from '#agent/decide/apply-outcome.ts';
import type { Eviction } from '#agent/decide/decide.ts';
import type { EvictionRecord } from '#agent/picture.ts';
import { ownerOf } from '#agent/decide/pod-owner.ts';

/** What NodePressure shows beside those in flight. */
const MOST_RECORDS = 20;

/** The records with one more eviction that was asked for. */
export function noteRequest(
  records: readonly EvictionRecord[],
  eviction: Eviction,
  wallNow: Instant,
): readonly EvictionRecord[] {
  const { pod, signal, stage, mode, because } = eviction;
  const record: EvictionRecord = {
    pod: { namespace: pod.namespace, name: pod.name, uid: pod.uid },
    owner: ownerOf(pod),
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

/** What this process noted, then what its predecessor told, as far as there is room. */
export function joinRecords(
  records: readonly EvictionRecord[],
  earlier: readonly EvictionRecord[],
): readonly EvictionRecord[] {
  return [...records, ...earlier].slice(0, MOST_RECORDS);
}

/** The records after an answer about the newest request for a pod. */
export function noteOutcome(
  records: readonly EvictionRecord[],
  uid: string,
  outcome: AttemptOutcome['kind'],
): readonly EvictionRecord[] {
  const index = records.findIndex(({ pod }) => pod.uid === uid);
  return records.map((record, at) => (at === index ? { ...record, outcome } : record));
}

/** The records once flights that landed have their end; the same list where nothing ended. */
export function noteEnds(
  records: readonly EvictionRecord[],
  { flights }: Pick<AgentState, 'flights'>,
  wallNow: Instant,
): readonly EvictionRecord[] {
  const flying = new Set(flights.map(({ uid }) => uid));
  const hasEnded = (record: EvictionRecord): boolean => record.endedAt === undefined && !flying.has(record.pod.uid);
  if (!records.some(hasEnded)) return records;
  return records.map((record) => (hasEnded(record) ? { ...record, endedAt: wallNow } : record));
}
