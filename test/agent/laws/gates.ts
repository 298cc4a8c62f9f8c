import type { PassResult } from '#shared/decide/eviction/decide.ts';
import { pressureConditions } from '#agent/report/pressure-conditions.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { byRank } from './kubelet.ts';
import { isAbove, isInside, isReplacement, isUntouchable, type LawNode, type LivePod } from './node.ts';

/** The longest that any message about the past may look back, besides the windows of the limits. */
const RECENT_MS = 60_000;
const TEN_MINUTES_MS = 600_000;
/** Above the request for this long, a pod has been measured and decided on. */
const SEEN_MS = 1500;
/** The kubelet's default hard threshold. */
const USUAL_KUBELET_MIB = 100;

type IsTrue = (node: LawNode, because: Because) => boolean;

/** What each gate claims, held against the node; a gate without a line here is a breach. */
const CLAIMS: Readonly<Record<string, IsTrue>> = {
  Outstanding: (node) => unended(node).length + node.pending.size >= Math.min(1, node.scenario.policy.concurrent),
  OwnerLimit: (node) => hasWitness(node, 'OwnerLimit'),
  LeftToKubelet: (node) => hasWitness(node, 'CauseHeld'),
  NodeLimit: (node) => areWindowsUsed(node),
  Backoff: (node) => isRecent(node.refusedAtMs, node) || node.pods.some((pod) => isUnconfirmed(pod, node)),
  KubeletLeads: (node) => node.hasMemoryPressure,
  KubeletActs: (node) => node.events.some(({ kind, atMs }) => kind === 'kubelet' && node.nowMs - atMs <= 31_000),
  KernelActs: (node) => node.events.some(({ kind, atMs }) => kind === 'kernel' && node.nowMs - atMs <= 11_000),
  // The kubelet of these nodes is ready: only the mild stage stops.
  Stuck: (node, { facts }) => facts['most'] === 2 && leaving(node).some((pod) => pod.usedMiB > 0),
  AwaitingAnswer: (node) => node.pending.size > 0,
  NoCandidate: (node) =>
    node.pending.size > 0 ||
    isWatchStalling(node) ||
    node.present().every((pod) => isLeaving(pod) || pod.usedMiB === 0 || pod.spec.fault === 'unreadable'),
  EnoughEnding: (node) => node.pods.some((pod) => pod.usedMiB > 0 && isLeaving(pod)),
  EndsByItself: (node) => node.pods.some(({ spec }) => spec.isSawTooth === true),
  GrowsWithinRequest: (node) =>
    node.pods.some(({ usedMiB, requestMiB, bornMs, spec: { growsMiB } }) => {
      // One that came, or that the kernel killed, takes its memory anew.
      const isTaking = growsMiB > 0 || (bornMs > 0 && isRecent(bornMs, node));
      return isTaking && usedMiB <= requestMiB + growsMiB && node.availableMiB() + growsMiB > USUAL_KUBELET_MIB - 10;
    }),
  AwaitingRelief: (node) => node.pods.some((pod) => pod.askedAtMs !== undefined),
  Ineffective: (node) => node.pods.filter((pod) => pod.askedAtMs !== undefined).length >= 2,
  NoEligiblePod: (node, { facts }) =>
    Object.keys(facts).every((code) => hasWitness(node, code)) && ('TooSmall' in facts || freePod(node) === undefined),
};

/** Why pods may not go, as `NoEligiblePod` counts them, each with a pod that shows it. */
const WITNESSES: Readonly<Record<string, (pod: LivePod, node: LawNode) => boolean>> = {
  ProtectedOptOut: ({ spec }, { scenario }) => spec.wish === 'never' && spec.priority <= scenario.policy.optOutCeiling,
  ProtectedPriority: ({ spec }) => spec.priority >= 2_000_000_000,
  ProtectedMirrorPod: ({ spec }) => spec.kind === 'Static',
  ProtectedNamespace: ({ spec }) => spec.namespace === 'kube-system',
  ProtectedWithinRequest: (pod) => !isAbove(pod),
  NoStatistics: (pod) => !pod.spec.isMeasured || pod.bornMs > 0 || pod.usedMiB === 0,
  BudgetSpent: ({ spec }) => spec.fault === 'budget',
  Refused: ({ spec }) => spec.fault === 'forbidden' || spec.fault === 'twoBudgets',
  Failed: ({ spec }, { scenario }) => ['evictFails', 'getFails'].includes(spec.fault ?? '') || scenario.api.length > 0,
  Changed: (pod, node) => pod.deletion !== undefined || node.scenario.api.length > 0 || pod.bornMs > 0,
  OwnerLimit: ({ spec }, node) => ownerLosses(node, spec.name) >= node.scenario.policy.perOwnerPerHour,
  LessThanLimitedOwner: () => true,
  ReturnedInVain: isReplacement,
  CauseHeld: (pod, node) => !isInside(pod) && node.pods.some((each) => mayBeTheCause(each, pod, node)),
  // A request without an answer counts, as it may take effect.
  NamespaceLimit: ({ spec }, node) =>
    node.pods.filter((each) => each.spec.namespace === spec.namespace && isCounted(each, node)).length >=
    node.scenario.policy.perNamespace,
  AboveRequestFirst: mayBeAbove,
  // Of a pod that cannot be read its priority is unknown, too.
  AboveRequestHeld: (pod, node) =>
    pod.spec.fault === 'unreadable' ||
    (!isUntouchable(pod.spec) &&
      (mayBeAbove(pod) || isLeaving(pod) || !pod.spec.isMeasured || hasJustBegun(pod, node))),
  TooSmall: () => true,
};

/** What is wrong with the reason that the agent gives for doing nothing; `undefined` if it is true. */
export function gateFault(result: PassResult, node: LawNode): string | undefined {
  const { trigger, closedGates } = result.decision.assessment;
  if (trigger === undefined) return 'nothing is short';
  if (closedGates.length === 0) return 'no gate';
  const untrue = closedGates.find((because) => CLAIMS[because.code]?.(node, because) !== true);
  return untrue === undefined ? conditionFault(result, closedGates) : `untrue: ${gateCode(untrue)}`;
}

/** The gates of a pass, with the reasons that `NoEligiblePod` counts. */
export function gateCodes({ decision }: PassResult): string {
  return decision.assessment.closedGates.map(gateCode).join(', ');
}

function gateCode({ code, facts }: Because): string {
  return code === 'NoEligiblePod' ? `${code} (${Object.keys(facts).sort().join(', ')})` : code;
}

/** The condition of the status names the first gate, not only that there is pressure. */
function conditionFault(result: PassResult, closedGates: readonly Because[]): string | undefined {
  const memory = pressureConditions(result, { sources: undefined, policies: { count: 0, problem: undefined } }).find(
    ({ type }) => type === 'Memory',
  );
  if (memory?.status !== 'True') return `the condition is ${memory?.status}`;
  const isNamed = closedGates.some(({ text }) => memory.message.includes(text));
  return isNamed ? undefined : 'the condition names no gate';
}

function hasWitness(node: LawNode, code: string): boolean {
  const isWitness = WITNESSES[code];
  return isWitness !== undefined && node.pods.some((pod) => isWitness(pod, node));
}

/** A pod above its request that nothing holds: nobody may go is untrue then. */
function freePod(node: LawNode): LivePod | undefined {
  if (node.scenario.api.length > 0 || asked(node, TEN_MINUTES_MS).length > 0) return undefined;
  return node.pods.find(
    (pod) =>
      !isHeld(pod) &&
      !isLimited(pod, node) &&
      (pod.aboveSinceMs ?? Infinity) <= node.nowMs - SEEN_MS &&
      !node.pods.some((each) => mayBeTheCause(each, pod, node)),
  );
}

/** Whether a pod that stays grows as fast as another, is evicted before it by the kubelet, or cannot be judged. */
function mayBeTheCause(pod: LivePod, other: LivePod, node: LawNode): boolean {
  if (pod === other) return false;
  if (isUnknown(pod)) return isMissed(pod, node);
  if (isWatchStalling(node) && pod.endsAtMs <= node.nowMs) return true;
  if (pod.usedMiB === 0) return hasJustBegun(pod, node);
  return mayStay(pod, node) && !isInside(pod) && (grewAsMuch(pod, other) || byRank(pod, other) < 0);
}

/** Without a byte at its start it has no statistics, and may use any amount. */
function hasJustBegun({ usedMiB, bornMs }: LivePod, { nowMs }: LawNode): boolean {
  return usedMiB === 0 && bornMs > 0 && nowMs - bornMs <= SEEN_MS;
}

/** Whether a pod grows as fast as another, or has grown as much. */
function grewAsMuch(pod: LivePod, other: LivePod): boolean {
  // One that the kernel killed counts since then, if it stays.
  const grown = pod.usedMiB - (pod.bornMs > 0 ? 0 : pod.spec.startMiB);
  const rate = ({ usedMiB, spec }: LivePod): number => (usedMiB < spec.mostMiB ? spec.growsMiB : 0);
  const isAsFast = rate(pod) > 0 && rate(pod) >= rate(other);
  // One that came back took all its memory anew.
  return isAsFast || isReplacement(pod) || (grown > 0 && grown >= other.usedMiB - other.spec.startMiB);
}

/**
 * What nobody measures, or reads, may take the memory until its object is gone, and counts in the windows of the agent
 * after the kernel has killed it.
 */
function isMissed({ uid, bornMs }: LivePod, node: LawNode): boolean {
  return node.find(uid) !== undefined || (bornMs > 0 && isRecent(bornMs, node));
}

function isUnknown({ spec, isEvictedByKubelet }: LivePod): boolean {
  return !spec.isMeasured || spec.fault === 'unreadable' || isEvictedByKubelet;
}

function mayStay(pod: LivePod, node: LawNode): boolean {
  return !isUntouchable(pod.spec) && (isHeld(pod) || isLimited(pod, node) || node.scenario.api.length > 0);
}

/** Whether the agent may not evict it, or not yet. */
export function isHeld(pod: LivePod): boolean {
  const { spec } = pod;
  const isProtected = isUntouchable(spec) || spec.namespace === 'kube-system' || spec.wish === 'never';
  return isProtected || !spec.isMeasured || spec.fault !== undefined || isLeaving(pod);
}

function isLimited(pod: LivePod, node: LawNode): boolean {
  return ['OwnerLimit', 'NamespaceLimit'].some((code) => WITNESSES[code]?.(pod, node) === true);
}

function isLeaving({ deletion, isEvictedByKubelet }: LivePod): boolean {
  return deletion !== undefined || isEvictedByKubelet;
}

/** The agent compares without a margin, and what it measured a moment ago. */
function mayBeAbove(pod: LivePod): boolean {
  return !isInside(pod);
}

function isWatchStalling({ scenario }: LawNode): boolean {
  return scenario.api.some(({ kind }) => kind === 'watchStalls');
}

/** Victims whose end the agent has not seen: while the watch stalls it sees none. */
function unended(node: LawNode): readonly LivePod[] {
  return isWatchStalling(node) ? asked(node, Infinity) : leaving(node);
}

function isRecent(atMs: number | undefined, { nowMs }: LawNode): boolean {
  return atMs !== undefined && nowMs - atMs <= RECENT_MS;
}

/** Whether an attempt ended before an eviction was accepted: the pod had changed, or a request had no answer. */
function isUnconfirmed({ uid, acceptedAtMs }: LivePod, node: LawNode): boolean {
  const attemptedAtMs = node.attemptedAtMs.get(uid);
  return isRecent(attemptedAtMs, node) && acceptedAtMs === undefined;
}

function isCounted(pod: LivePod, node: LawNode): boolean {
  return node.pending.has(pod.uid) || asked(node, TEN_MINUTES_MS).includes(pod);
}

function leaving(node: LawNode): readonly LivePod[] {
  return node.pods.filter((pod) => pod.askedAtMs !== undefined && node.find(pod.uid) !== undefined);
}

function asked(node: LawNode, withinMs: number): readonly LivePod[] {
  return node.pods.filter(({ askedAtMs }) => askedAtMs !== undefined && node.nowMs - askedAtMs < withinMs);
}

function ownerLosses(node: LawNode, name: string): number {
  return asked(node, Infinity).filter(({ spec }) => spec.name === name).length;
}

function areWindowsUsed(node: LawNode): boolean {
  const { perMinute, perTenMinutes } = node.scenario.policy;
  const { pending } = node;
  return (
    asked(node, RECENT_MS).length + pending.size >= perMinute ||
    asked(node, TEN_MINUTES_MS).length + pending.size >= perTenMinutes
  );
}
