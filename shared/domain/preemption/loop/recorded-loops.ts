import { ownerText } from '#shared/domain/avoidance/avoid-entry.ts';
import { hasCriticalPriority } from '#shared/domain/eviction/protection.ts';
import type { Because } from '#shared/domain/model/because.ts';
import { MOST_SKEW_MS } from '#shared/domain/model/clock-skew.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { contenderOf } from './displacement.ts';
import { whyLoop } from './find-loop.ts';
import type { LoopRecord } from './loop-record.ts';
import { pairOf } from './preemption-rounds.ts';

/** A record, and the node whose NodePressure holds it. */
export interface RecordOnNode extends LoopRecord {
  readonly node: string;
}

/** Why a recorded loop refuses that `preemptor` preempts `victim`, as the extender does; `undefined` where none does. */
export function refusalByRecord(
  records: readonly RecordOnNode[],
  { victim, preemptor }: { readonly victim: Pod; readonly preemptor: Pod },
  now: Instant,
): Because | undefined {
  if (records.length === 0 || hasCriticalPriority(preemptor)) return undefined;
  const sides = { preemptor: contenderOf(preemptor).party, victim: contenderOf(victim).party };
  const found = records.find(
    (record) => isRefusing(record, now) && pairIn(record) === pairOf(sides.preemptor, sides.victim),
  );
  if (found === undefined) return undefined;
  const { node, rounds, until } = found;
  return whyLoop(sides, { node, count: rounds.length, windowMs: until - (rounds[0] ?? until) });
}

/** A round in the future says nothing: somebody wrote it by hand, or a clock was set back. */
function isRefusing({ action, until, rounds }: LoopRecord, now: Instant): boolean {
  return action === 'Refuse' && until > now && (rounds.at(-1) ?? 0) <= now + MOST_SKEW_MS;
}

function pairIn({ preemptor, victim }: LoopRecord): string {
  return pairOf(ownerText(preemptor), ownerText(victim));
}
