import { isSameOwner, type OwnerKey, type Instant, type Pod, MAX_SKEW_MS } from '#shared/domain/pod/pod.ts';
import { hasCriticalPriority } from '#shared/domain/eviction/protection.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { priorityOf } from '#shared/domain/snapshot/placed-pod.ts';
import {
  contenderOf,
  type LoopPolicy,
  ownerKeyOf,
  pairOf,
  partiesOf,
  partyOf,
  type PreemptionRounds,
  type PreemptionRound,
  isInForce,
  recentRounds,
  type Sides,
  whyLoop,
} from './preemption-rounds.ts';

/** What happens while a loop lasts: it is only reported, preemptions are refused, or the victim's owner avoids the node. */
export type LoopAction = (typeof LOOP_ACTIONS)[number];
export const LOOP_ACTIONS = ['Report', 'Refuse', 'Avoid'] as const;

/** The rounds of two owners, as the NodePressure of the node of the latest one records them (`spec.preemptionLoops`). */
export interface LoopRecord {
  /** The preemptor of the latest round, as `victim` is its victim. */
  readonly preemptor: OwnerKey;
  readonly victim: OwnerKey;
  /** UID of the pod for which the latest round made room. */
  readonly preemptorUid: string | undefined;
  /** The lowest priority of all rounds: they do not refuse a pod of higher priority. */
  readonly priority: number | undefined;
  /** Times of the rounds (wall time), the earliest first; at least one. */
  readonly rounds: readonly Instant[];
  /** When the record stops having an effect. */
  readonly until: Instant;
  /** `undefined` while there are fewer rounds than the limit, so that it is not a loop yet. */
  readonly action: LoopAction | undefined;
}

/** Maximum number of records in one NodePressure. */
export const MAX_RECORDS = 10;
/** Upper bound of the allowed rounds, and of the rounds in one record. */
export const MAX_ROUNDS = 16;
/** The longest window for counting rounds, in milliseconds. */
export const MAX_WINDOW_MS = 86_400_000;
/** Fewer rounds are not recorded: most preemptions happen once. */
const FEWEST_ROUNDS = 2;
/**
 * Kinds whose pods an avoid entry cannot redirect: pods of a DaemonSet are tied to their nodes, and the controller of
 * the others is not looked up.
 */
const BOUND_KINDS: readonly string[] = ['DaemonSet', 'Node', 'Pod'];

/**
 * The records of all pairs with at least two rounds, by the node of the latest round; if one node has too many, those
 * with the latest rounds. Depends only on the rounds and on which of them have left the window, so that a pass without
 * changes plans the same as the last one.
 */
export function planRecords(
  rounds: PreemptionRounds,
  policy: LoopPolicy,
  action: LoopAction,
  now: Instant,
): ReadonlyMap<string, readonly LoopRecord[]> {
  const planned = Array.from(rounds, ([pair, own]) => ({ pair, recent: recentRounds(own, policy, now) })).flatMap(
    ({ pair, recent }) => {
      const last = recent.at(-1);
      if (last === undefined || recent.length < FEWEST_ROUNDS) return [];
      return [{ node: last.node, record: recordOf(pair, recent, last, { policy, action }) }];
    },
  );
  const byNode = Map.groupBy(planned, ({ node }) => node);
  return new Map(Array.from(byNode, ([node, own]) => [node, own.map(({ record }) => record).slice(-MAX_RECORDS)]));
}

interface LoopRules {
  readonly policy: LoopPolicy;
  readonly action: LoopAction;
}

function recordOf(
  pair: string,
  recent: readonly PreemptionRound[],
  last: PreemptionRound,
  { policy, action }: LoopRules,
): LoopRecord {
  const victim = ownerKeyOf(partiesOf(pair).find((party) => party !== last.by) ?? '');
  const isLoop = isInForce(recent, policy);
  const first = isLoop ? (recent[0] ?? last) : last;
  return {
    preemptor: ownerKeyOf(last.by),
    victim,
    preemptorUid: last.preemptorUid === '' ? undefined : last.preemptorUid,
    priority: lowestOf(recent),
    rounds: recent.map(({ at }) => at),
    until: first.at + policy.windowMs,
    action: isLoop ? actionAgainst(victim, isOneSided(recent, last.by) ? 'Report' : action) : undefined,
  };
}

/** The action for a loop whose latest round had a victim of this owner. */
function actionAgainst({ kind }: OwnerKey, action: LoopAction): LoopAction {
  return action === 'Avoid' && BOUND_KINDS.includes(kind) ? 'Refuse' : action;
}

/** The two sides of a preemption, and the priority of the pod that it would make room for. */
interface AttemptedPreemption extends Sides {
  readonly priority: number;
}

/**
 * Whether preemptions in the loop of two parties are refused. If only one party has displaced the other, it is not
 * refused: it made the same room again because the other party had taken it. A pod of higher priority is not refused
 * because of rounds by pods of lower priority.
 */
export function isRefused(
  rounds: PreemptionRounds,
  { preemptor, victim, priority }: AttemptedPreemption,
  action: LoopAction,
): boolean {
  const own = rounds.get(pairOf(preemptor, victim)) ?? [];
  if (isOneSided(own, preemptor) || !holdsBack({ priority: lowestOf(own) }, priority)) return false;
  const last = own.at(-1);
  const latestVictim = last?.by === victim ? preemptor : victim;
  return actionAgainst(ownerKeyOf(latestVictim), action) === 'Refuse';
}

/** Whether a loop with these rounds holds back a preemptor of this priority. */
function holdsBack({ priority: lowest }: Pick<LoopRecord, 'priority'>, priority: number): boolean {
  return lowest !== undefined && priority <= lowest;
}

/** `undefined` if that of a round is not known. */
function lowestOf(rounds: readonly PreemptionRound[]): number | undefined {
  const lowest = Math.min(...rounds.map(({ priority }) => priority));
  return Number.isFinite(lowest) ? lowest : undefined;
}

function isOneSided(rounds: readonly PreemptionRound[], party: string): boolean {
  return rounds.every(({ by }) => by === party);
}

/** What a process reads from the records of one node. */
interface RecordedRounds {
  readonly node: string;
  readonly records: readonly LoopRecord[];
  /** The process itself has observed the rounds since then. */
  readonly before: Instant;
}

/**
 * The rounds together with those recorded before the process started. If a pair has two records, the one with the later
 * round counts; rounds in the future, and more rounds than the policy allows, are left out.
 */
export function adoptRecords(
  rounds: PreemptionRounds,
  { node, records, before }: RecordedRounds,
  policy: LoopPolicy,
): PreemptionRounds {
  const found = records.flatMap((record) => laterRounds(rounds, { node, record, before }));
  if (found.length === 0) return rounds;
  return new Map([...rounds, ...found.map(([pair, own]) => [pair, own.slice(-policy.rounds)] as const)]);
}

type PairRounds = readonly [pair: string, rounds: readonly PreemptionRound[]];

interface RecordedPair extends Pick<RecordedRounds, 'node' | 'before'> {
  readonly record: LoopRecord;
}

/** The rounds of one pair, if the record has a later round from before the process started. */
function laterRounds(rounds: PreemptionRounds, { node, record, before }: RecordedPair): readonly PairRounds[] {
  const [by, other] = [partyOf(record.preemptor), partyOf(record.victim)];
  const pair = pairOf(by, other);
  const [earlier, seen] = split(rounds.get(pair) ?? [], before);
  const recorded = record.rounds
    .filter((at) => at < before)
    .map((at, index, { length }) => ({
      at,
      node,
      by: isMutual(record) && (length - index) % 2 === 0 ? other : by,
      preemptorUid: record.preemptorUid ?? '',
      priority: record.priority ?? -Infinity,
    }));
  const isLater = (recorded.at(-1)?.at ?? -Infinity) > (earlier.at(-1)?.at ?? -Infinity);
  return isLater && by !== other ? [[pair, [...recorded, ...seen]]] : [];
}

/**
 * Both parties took part in a loop that is refused or avoided; a record does not say which rounds belong to which
 * party.
 */
function isMutual({ action }: LoopRecord): boolean {
  return action === 'Refuse' || action === 'Avoid';
}

function split(
  rounds: readonly PreemptionRound[],
  before: Instant,
): readonly [readonly PreemptionRound[], readonly PreemptionRound[]] {
  return [rounds.filter(({ at }) => at < before), rounds.filter(({ at }) => at >= before)];
}

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
  const own = records.filter((record) => isLoopInForce(record, 'Avoid', now) && isSameOwner(record.victim, owner));
  if (own.length === 0 || hasCriticalPriority(preemptor)) return NO_NODES;
  return new Map(
    own.map((record) => [record.node, whyRecorded(record, { preemptor: party, victim: partyOf(record.preemptor) })]),
  );
}

/** Why a recorded loop forbids `preemptor` to preempt `victim`, as the extender decides; `undefined` if none does. */
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
      isLoopInForce(record, 'Refuse', now) && isBetween(record, owners) && holdsBack(record, priorityOf(preemptor)),
  );
  return found && whyRecorded(found, sides);
}

function whyRecorded({ node, rounds, until }: RecordOnNode, sides: Sides): Because {
  return whyLoop(sides, { node, count: rounds.length, windowMs: until - (rounds[0] ?? until) });
}

/** A round in the future does not count: someone wrote it by hand, or a clock was set back. */
function isLoopInForce({ action, until, rounds }: LoopRecord, wanted: LoopAction, now: Instant): boolean {
  return action === wanted && until > now && (rounds.at(-1) ?? 0) <= now + MAX_SKEW_MS;
}

function isBetween({ preemptor, victim }: LoopRecord, [left, right]: readonly [OwnerKey, OwnerKey]): boolean {
  const isInTurn = isSameOwner(preemptor, left) && isSameOwner(victim, right);
  return isInTurn || (isSameOwner(preemptor, right) && isSameOwner(victim, left));
}
