/** What one pod takes of a resource that is short. */
export interface Taking {
  readonly priority: number;
  readonly usage: number;
  /** Usage minus request. */
  readonly overage: number;
  /** Its place in the ranking of the policy. */
  readonly rank: number;
  /** What it took more, in each window, shortest first; empty while nothing has been recorded. */
  readonly growth: readonly number[];
}

/**
 * Why a pod is not evicted now. `held`: a wish, a budget, a limit, a refusal, or a termination that takes too long.
 * `lastWish`: it may be evicted, but asked to go after others. `lastOfPolicy`: it may be evicted, and the operator ranks
 * its kind last. `limited`: its owner is at its limit, which has a comparison of its own. `unknown`: nothing is known
 * about it but the growth of the node that no measured pod explains.
 */
export type Standing = 'held' | 'lastWish' | 'lastOfPolicy' | 'limited' | 'unknown';

/** A pod that stays, or goes later than the kubelet would have it go. */
export interface HeldTaking extends Taking {
  readonly standing: Standing;
  /** Whether it is held, and asked to go after others besides: its place in the ranking is by its own wish then. */
  readonly wishesLast?: boolean;
}

/** The node during the shortage. */
export interface ShortageScene {
  /** What must be freed; infinite if there is no amount. */
  readonly gap: number;
  /** What the node lost in each window, as `growth`. */
  readonly lost: readonly number[];
  /** Whether the resource is gone before a second pod could follow the first: then the last seconds alone count. */
  readonly isLastChance: boolean;
}

/** Smaller changes of a working set are no growth. */
const LEAST_GROWTH = 8 * 1024 * 1024;
/** A pod that took this share of what the node lost has caused the loss. */
const CAUSING_SHARE = 0.5;

/**
 * In whose stead a pod would be evicted (docs/contributing/decisions/within-request.md): the pod that causes the
 * shortage and stays, `undefined` if none does. A pod that stays is the cause if it grew as much as the candidate in any
 * window. If no window tells, it is the cause if the kubelet would evict it before the candidate; but not if the candidate
 * itself took most of what the node lost, and is no more important or must be evicted anyway, since the other frees too
 * little. Evicting another pod would only lift the node over the kubelet's threshold and so keep the cause alive.
 */
export function inWhoseStead<H extends HeldTaking>(
  candidate: Taking,
  held: readonly H[],
  scene: ShortageScene,
): H | undefined {
  const windows = scene.isLastChance ? 1 : Infinity;
  const growing = held.find((each) => outgrows(each, candidate, windows));
  if (growing !== undefined) return growing;
  const earlier = held.filter(
    (each) => goesFirst(each, candidate) && !(each.priority >= candidate.priority && isCleared(each, scene.lost)),
  );
  const goesAnyway =
    (causedLoss(candidate, scene.lost) && mayPrecede(candidate, earlier, scene)) ||
    (scene.isLastChance && tookMost(candidate, earlier));
  return goesAnyway ? undefined : earlier[0];
}

/** Whether it took more in the last seconds than each of the others, of a loss that several pods share. */
function tookMost({ growth: [taken = 0] }: Taking, others: readonly HeldTaking[]): boolean {
  return others.every(({ growth: [each = 0] }) => taken - Math.max(0, each) >= LEAST_GROWTH);
}

/** Whether the pod that took the memory goes before others that the kubelet would evict first. */
function mayPrecede(candidate: Taking, earlier: readonly HeldTaking[], { gap, isLastChance }: ShortageScene): boolean {
  const freed = earlier.reduce((sum, { usage }) => sum + usage, 0);
  const isTooLittle = Number.isFinite(gap) && freed < gap;
  return isLastChance || isTooLittle || earlier.every(({ priority }) => priority >= candidate.priority);
}

function outgrows(held: HeldTaking, candidate: Taking, windows: number): boolean {
  const { growth, priority } = candidate;
  const isLater = held.standing === 'lastWish' || held.standing === 'lastOfPolicy';
  if (isLater && held.priority > priority) return false;
  if (held.standing === 'held' && held.rank > candidate.rank && growsAlike(held, candidate)) return false;
  return held.growth.some((each, window) => window < windows && each >= LEAST_GROWTH && each >= (growth[window] ?? 0));
}

/** Two pods that grew alike would hold each other: the ranking decides which of them is asked. */
function growsAlike(held: Taking, { growth }: Taking): boolean {
  return held.growth.every((each, window) => Math.abs(each - (growth[window] ?? 0)) < LEAST_GROWTH);
}

/**
 * Whether the kubelet evicts the pod that stays before the candidate, both being above their requests, and the ranking of
 * the policy does not say otherwise.
 */
function goesFirst({ standing, wishesLast, priority, overage, rank }: HeldTaking, candidate: Taking): boolean {
  if (standing === 'lastWish' || (standing === 'held' && wishesLast === true)) return priority < candidate.priority;
  if (standing !== 'held' || rank >= candidate.rank) return false;
  return priority === candidate.priority ? overage > candidate.overage : priority < candidate.priority;
}

/** Whether the node lost memory in some window, and the pod took little of it in each: something else is the cause. */
function isCleared({ growth }: Taking, lost: readonly number[]): boolean {
  const losses = lost.flatMap((each, window) => (each >= LEAST_GROWTH ? [{ each, taken: growth[window] ?? 0 }] : []));
  return losses.length > 0 && losses.every(({ each, taken }) => taken < each * CAUSING_SHARE);
}

/** Whether a pod took most of what the node lost in one of the windows. */
function causedLoss({ growth }: Taking, lost: readonly number[]): boolean {
  return growth.some((each, window) => each >= LEAST_GROWTH && each >= (lost[window] ?? Infinity) * CAUSING_SHARE);
}
