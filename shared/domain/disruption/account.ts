import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Cause } from './disruption.ts';
import {
  isDefaultKey,
  type Component,
  type CoveringRule,
  GOING_MS,
  lapsesAt,
  podsOf,
  type RateLimit,
  type LimitRule,
  shareOf,
} from './limit-rule.ts';

/*
 * The account of a namespace: every removal of a pod that a limit covers is one debit, whatever removed it (S3-16). All
 * limits of a namespace share one account, so that a removal under two limits debits both or none.
 */

/** One removed pod, or one whose eviction was let through. Wall time. */
export interface Debit {
  readonly uid: string;
  readonly pod: string;
  /** Only in the account of all namespaces, which our own evictions are debited to. */
  readonly namespace?: string | undefined;
  readonly at: Instant;
  readonly component: Component;
  /** Keys of the rules that cover the pod. */
  readonly rules: readonly string[];
  /** From then on no window counts it. */
  readonly lapsesAt: Instant;
  /** Set for a removal that was observed; absent for an eviction that was only let through. */
  readonly cause: Cause | undefined;
  /** Name of the user who requested it, if the API server reports it. */
  readonly caller: string | undefined;
  /** The rule whose limit it exceeded. */
  readonly overran: string | undefined;
}

/** Oldest first. */
export type Account = readonly Debit[];

/** A removal to debit. */
export type Wanted = Omit<Debit, 'rules' | 'lapsesAt' | 'overran'>;

/** Longer names of users are cut. */
export const MAX_CALLER_LENGTH = 253;
/** Beyond these, entries are dropped: those of default limits first, then those that lapse next. */
export const MAX_DEBITS = 2_000;
/** As stored; etcd takes 1.5 MiB. */
export const MAX_BYTES = 1_300_000;
/** The API server carries out an eviction within this time; a pod that is still running afterwards was not evicted. */
export const SETTLED_MS = 2_000;
/** A clock that is set to the time of another place is ahead by less. */
const MAX_AHEAD_MS = 24 * 3_600_000;
/** Time for a pod to come up. */
const RETRY_UP_MS = 10_000;

/** Why a limit refuses; `rate` is the present number of removals in the window, or of pods that are up. */
export interface Exceeded {
  readonly kind: 'exceeded';
  readonly key: string;
  readonly what: 'window' | 'share' | 'minAvailable' | 'full';
  readonly most: number;
  readonly windowMs: number;
  readonly rate: number;
  readonly retryAfterMs: number;
  /** The debits that use it up. */
  readonly filledBy: readonly Debit[];
}

export type DebitOutcome =
  { readonly kind: 'debited'; readonly account: Account; readonly overran: Exceeded | undefined } | Exceeded;

/**
 * Debits the requested eviction of a pod that still exists. Without a rule there is no limit (S3-22). A request
 * repeated within moments is the same eviction; a later one shows that the first did not happen.
 */
export function debitEviction(
  account: Account,
  wanted: Wanted,
  rules: readonly CoveringRule[],
  mayOverrun = false,
): DebitOutcome {
  const now = wanted.at;
  const known = account.find(({ uid }) => uid === wanted.uid);
  const isRepeated = known !== undefined && Math.abs(now - known.at) < SETTLED_MS;
  if (isRepeated || rules.length === 0) return { kind: 'debited', account, overran: undefined };
  const others = liveDebits(account, now).filter(({ uid }) => uid !== wanted.uid);
  const exceeded = firstExceeded(others, wanted, rules);
  if (exceeded !== undefined && !mayOverrun) return exceeded;
  return { kind: 'debited', account: bounded([...others, debitOf(wanted, rules, exceeded?.key)]), overran: exceeded };
}

/**
 * Counts a removal that has happened; it is never refused. An eviction that was debited when it was let through is not
 * counted again.
 */
export function countRemoval(account: Account, seen: Wanted, rules: readonly CoveringRule[]): Account {
  const known = account.find(({ uid }) => uid === seen.uid);
  if (known === undefined) return rules.length === 0 ? account : bounded([...account, debitOf(seen, rules, undefined)]);
  const merged = isSameRemoval(known, seen) ? withEvidence(known, seen) : debitOf(seen, rules, undefined);
  return isDeepSame(known, merged) ? account : bounded([...account.filter((each) => each !== known), merged]);
}

/**
 * The account without evictions that did not happen: their pods are still running although the API server has had
 * enough time.
 */
export function withoutSurvivors(account: Account, survivors: ReadonlySet<string>, now: Instant): Account {
  return account.filter(({ uid, cause, at }) => cause !== undefined || now - at < SETTLED_MS || !survivors.has(uid));
}

/**
 * The debits that a window may still count. A time in the future, from a clock that is ahead, counts as now; one that is
 * a day ahead counts for nothing, or it would be now for years.
 */
export function liveDebits(account: Account, now: Instant): Account {
  return account
    .filter((each) => now < each.lapsesAt && !isAhead(each, now))
    .map((each) => (each.at > now ? { ...each, at: now } : each));
}

/** Whether the time of a debit is more than clocks differ. */
export function isAhead({ at }: Pick<Debit, 'at'>, now: Instant): boolean {
  return at - now > MAX_AHEAD_MS;
}

/** One window of a rule. */
export interface RuleWindow {
  /** Of the rule. */
  readonly key: string;
  readonly windowMs: number;
}

/** What a rule has counted in one of its windows, oldest first. */
export function debitsIn(account: Account, { key, windowMs }: RuleWindow, now: Instant): Account {
  return account.filter(({ rules, at }) => rules.includes(key) && now - at < windowMs);
}

/** UIDs of the pods of a rule that are up, without those whose eviction was just let through (S3-21). */
export function podsUp({ up }: Pick<CoveringRule, 'up'>, account: Account, now: Instant): ReadonlySet<string> {
  const going = new Set(account.filter(({ at }) => now - at < GOING_MS).map(({ uid }) => uid));
  return new Set([...up].filter((uid) => !going.has(uid)));
}

function firstExceeded(account: Account, wanted: Wanted, rules: readonly CoveringRule[]): Exceeded | undefined {
  for (const covering of rules) {
    const exceeded = exceededUp(account, wanted, covering) ?? exceededWindow(account, wanted, covering);
    if (exceeded !== undefined) return exceeded;
  }
  return fullAccount(account, wanted, rules);
}

/** Removing a pod that is not up does not reduce the number of pods that are. */
function exceededUp(account: Account, { uid, at }: Wanted, covering: CoveringRule): Exceeded | undefined {
  const { rule, expected, up } = covering;
  if (rule.minAvailable === undefined || !up.has(uid)) return undefined;
  const most = podsOf(rule.minAvailable, expected);
  const rate = podsUp(covering, account, at).size;
  if (rate > most) return undefined;
  const filledBy = account.filter((debit) => up.has(debit.uid) && at - debit.at < GOING_MS);
  return {
    kind: 'exceeded',
    key: rule.key,
    what: 'minAvailable',
    most,
    windowMs: 0,
    rate,
    retryAfterMs: RETRY_UP_MS,
    filledBy,
  };
}

/** A rule as a component finds it, and the pods that it covers. */
export interface WindowQuestion extends Pick<CoveringRule, 'expected'>, Pick<Wanted, 'component' | 'at'> {
  readonly rule: Pick<LimitRule, 'key' | 'shares'>;
}

/** What one window of a rule holds and allows: in total, and for a component with a share. */
export function countWindow(account: Account, { max: portion, windowMs }: RateLimit, question: WindowQuestion) {
  const { rule, expected, component, at } = question;
  const inside = debitsIn(account, { key: rule.key, windowMs }, at);
  const max = podsOf(portion, expected);
  const own = inside.filter((each) => each.component === component);
  return { inside, max, own, share: shareOf(max, rule, component) };
}

function exceededWindow(account: Account, wanted: Wanted, { rule, expected }: CoveringRule): Exceeded | undefined {
  for (const limit of rule.limits) {
    const { inside, max, own, share } = countWindow(account, limit, { ...wanted, rule, expected });
    if (inside.length >= max) return exceeded({ key: rule.key, what: 'window', most: max }, limit, inside, wanted.at);
    if (own.length >= share) return exceeded({ key: rule.key, what: 'share', most: share }, limit, own, wanted.at);
  }
  return undefined;
}

function exceeded(
  found: Pick<Exceeded, 'key' | 'what' | 'most'>,
  { windowMs }: RateLimit,
  filledBy: Account,
  now: Instant,
): Exceeded {
  // With a limit of 0 the window never has room.
  const makesRoom = found.most === 0 ? undefined : filledBy[filledBy.length - found.most];
  const retryAfterMs = makesRoom === undefined ? windowMs : makesRoom.at + windowMs - now;
  return { kind: 'exceeded', ...found, windowMs, rate: filledBy.length, retryAfterMs, filledBy };
}

/**
 * An account that is full of what DisruptionLimits count refuses a removal rather than drop a debit. A default limit
 * never holds up a namespace in this way: it belongs to owners who asked for none.
 */
function fullAccount(account: Account, wanted: Wanted, rules: readonly CoveringRule[]): Exceeded | undefined {
  const kept = account.filter((debit) => !isByDefault(debit));
  const more = debitOf(wanted, rules, undefined);
  if (fits([...kept, more]) || isByDefault(more)) return undefined;
  return {
    kind: 'exceeded',
    key: '',
    what: 'full',
    most: Math.min(kept.length, MAX_DEBITS),
    windowMs: 0,
    rate: kept.length,
    retryAfterMs: Math.min(...kept.map((debit) => debit.lapsesAt)) - wanted.at,
    filledBy: kept,
  };
}

function isByDefault({ rules }: Debit): boolean {
  return rules.every(isDefaultKey);
}

/** Whether an account can be stored. */
export function fits(account: Account): boolean {
  return account.length <= MAX_DEBITS && account.reduce((sum, debit) => sum + bytesOf(debit), 0) <= MAX_BYTES;
}

/** The names and values of the fields with a fixed length, as JSON. */
const FIXED_BYTES = 260;
/** The most that a character takes: a control character is written as six, others are up to three bytes in UTF-8. */
const BYTES_PER_CHARACTER = 6;

/** At least what the debit takes as stored. Names in Kubernetes are ASCII, those of users need not be. */
function bytesOf({ uid, pod, namespace = '', rules, overran = '', caller = '' }: Debit): number {
  const names = [uid, pod, namespace, overran, ...rules].reduce((sum, each) => sum + each.length + 3, 0);
  return FIXED_BYTES + names + BYTES_PER_CHARACTER * Math.min(caller.length, MAX_CALLER_LENGTH);
}

function debitOf(wanted: Wanted, rules: readonly CoveringRule[], overran: string | undefined): Debit {
  return { ...wanted, rules: rules.map(({ rule }) => rule.key), lapsesAt: lapsesAt(wanted.at, rules), overran };
}

/** Clocks differ, and a pod terminates a moment after its eviction was let through. */
function isSameRemoval(known: Debit, seen: Wanted): boolean {
  return Math.abs(seen.at - known.at) < GOING_MS;
}

function withEvidence(known: Debit, { at, cause, caller }: Wanted): Debit {
  const later = Math.max(known.at, at);
  return {
    ...known,
    at: later,
    lapsesAt: known.lapsesAt + later - known.at,
    cause: cause ?? known.cause,
    caller: known.caller ?? caller,
  };
}

function isDeepSame(left: Debit, right: Debit): boolean {
  const isAlike = (['at', 'component', 'cause', 'caller', 'overran'] as const).every((key) => left[key] === right[key]);
  return isAlike && left.rules.join() === right.rules.join();
}

/** Skips sorting if the last one is the newest, as it nearly always is. */
function bounded(account: Account): Account {
  const isLastNewest = (account.at(-2)?.at ?? -Infinity) <= (account.at(-1) as Debit).at;
  const sorted = isLastNewest ? account : account.toSorted((left, right) => left.at - right.at);
  if (fits(sorted)) return sorted;
  return withoutFirst(sorted, sorted.toSorted(leastNeededFirst));
}

function leastNeededFirst(left: Debit, right: Debit): number {
  return Number(isByDefault(right)) - Number(isByDefault(left)) || left.lapsesAt - right.lapsesAt;
}

/** The account without as many of the first of `forgettable` as it takes to fit. */
function withoutFirst(account: Account, forgettable: readonly Debit[]): Account {
  const gone = new Set<Debit>();
  let [count, bytes] = [account.length, account.reduce((sum, debit) => sum + bytesOf(debit), 0)];
  for (const debit of forgettable) {
    if (count <= MAX_DEBITS && bytes <= MAX_BYTES) break;
    gone.add(debit);
    count -= 1;
    bytes -= bytesOf(debit);
  }
  return account.filter((debit) => !gone.has(debit));
}
