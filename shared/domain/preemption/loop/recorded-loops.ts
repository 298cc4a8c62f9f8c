import { isSameOwner, type OwnerKey } from '#shared/domain/pod/owner-key.ts';
import { hasCriticalPriority } from '#shared/domain/eviction/protection.ts';
import type { Because } from '#shared/domain/model/because.ts';
import { MOST_SKEW_MS } from '#shared/domain/model/clock-skew.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { priorityOf } from '#shared/domain/snapshot/placed-pod.ts';
import { contenderOf, ownerKeyOf, partyOf } from './displacement.ts';
import { type Sides, whyLoop } from './find-loop.ts';
import { holdsBack, type LoopAction, type LoopRecord } from './loop-record.ts';

/** A record, and the node whose NodePressure holds it. */
export interface RecordOnNode extends LoopRecord {
  readonly node: string;
}

const NO_NODES: ReadonlyMap<string, Because> = new Map();

/** The nodes that the owner of `preemptor` should leave to others, because a recorded loop is broken with Avoid there. */
export function nodesToLeave(
  records: readonly RecordOnNode[],
  preemptor: Pod,
  now: Instant,
): ReadonlyMap<string, Because> {
  const { party } = contenderOf(preemptor);
  const owner = ownerKeyOf(party);
  const own = records.filter((record) => isInForce(record, 'Avoid', now) && isSameOwner(record.victim, owner));
  if (own.length === 0 || hasCriticalPriority(preemptor)) return NO_NODES;
  return new Map(
    own.map((record) => [record.node, whyRecorded(record, { preemptor: party, victim: partyOf(record.preemptor) })]),
  );
}

/** Why a recorded loop refuses that `preemptor` preempts `victim`, as the extender does; `undefined` where none does. */
export function refusalByRecord(
  records: readonly RecordOnNode[],
  { victim, preemptor }: { readonly victim: Pod; readonly preemptor: Pod },
  now: Instant,
): Because | undefined {
  if (records.length === 0 || hasCriticalPriority(preemptor)) return undefined;
  const sides = { preemptor: contenderOf(preemptor).party, victim: contenderOf(victim).party };
  const owners = [ownerKeyOf(sides.preemptor), ownerKeyOf(sides.victim)] as const;
  const found = records.find(
    (record) =>
      isInForce(record, 'Refuse', now) && isBetween(record, owners) && holdsBack(record, priorityOf(preemptor)),
  );
  return found && whyRecorded(found, sides);
}

function whyRecorded({ node, rounds, until }: RecordOnNode, sides: Sides): Because {
  return whyLoop(sides, { node, count: rounds.length, windowMs: until - (rounds[0] ?? until) });
}

/** A round in the future does not count: it was written by hand, or a clock was set back. */
function isInForce({ action, until, rounds }: LoopRecord, wanted: LoopAction, now: Instant): boolean {
  return action === wanted && until > now && (rounds.at(-1) ?? 0) <= now + MOST_SKEW_MS;
}

function isBetween({ preemptor, victim }: LoopRecord, [left, right]: readonly [OwnerKey, OwnerKey]): boolean {
  const isInTurn = isSameOwner(preemptor, left) && isSameOwner(victim, right);
  return isInTurn || (isSameOwner(preemptor, right) && isSameOwner(victim, left));
}
