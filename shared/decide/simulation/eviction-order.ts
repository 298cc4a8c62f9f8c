import { hasEnded, type Instant, type Pod, ownerOf } from '#shared/domain/pod/pod.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import {
  chooseVictims,
  type Ineligible,
  type VictimRules,
  withoutUnneeded,
  isOwnReason,
  nameOf,
  leastRelief,
  overageOfLimited,
  withinRequestProtection,
} from '#shared/domain/eviction/choose-victims.ts';
import {
  hasCriticalPriority,
  isMirrorOfNode,
  protectionOf,
  type ProtectionRules,
} from '#shared/domain/eviction/protection.ts';
import { type HeldTaking, inWhoseStead } from '#shared/domain/eviction/shortage-cause.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { resourceOf } from '#shared/domain/pressure/signal.ts';
import { type Candidate, prepareCandidate, rankingFacts } from '#shared/domain/ranking/candidate.ts';
import { explainRanking, type RankedPod } from '#shared/domain/ranking/explain-ranking.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import { rankPods } from '#shared/domain/ranking/rank-pods.ts';
import { policyOrder } from '#shared/domain/ranking/ranking-order.ts';
import type { Namespace } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { isMarkedLast, ownerWishes } from '#shared/kube/annotations/annotations.ts';
import { LABEL_IGNORE, PROTECTED_NAMESPACES } from '#shared/kube/api-names.ts';
import {
  aboveRequestHeld,
  causeHeld,
  GOES_LATER,
  LESS_THAN_LIMITED_OWNER,
  NO_STATISTICS,
  namespaceLimit,
  namespaceUnknown,
  ownerLimit,
  aboveRequestFirst,
  TERMINATING,
  TOO_SMALL,
} from './messages.ts';
import type { SimulatedSignal } from './pod-usage.ts';

/** The input of the decision of one node's agent. */
export interface NodeScene {
  /** Pods of the node. */
  readonly pods: readonly Pod[];
  readonly namespaces: readonly Namespace[];
  readonly usage: UsageByUid;
  /** Owners with an avoid entry for the node, as `namespace/Kind/name`. */
  readonly avoided: ReadonlySet<string>;
  readonly now: Instant;
}

/** The resource that is short and how much must be freed; absent if no threshold is met. */
interface SimulatedShortage {
  readonly signal: SimulatedSignal;
  readonly stage: 'mild' | 'severe';
  readonly gap: number;
}

/** The pods of a node as the agent ranks them. */
export interface EvictionOrder {
  /** In the order of eviction. */
  readonly eligible: readonly RankedPod[];
  /** Also in the order of the ranking. */
  readonly ineligible: readonly Ineligible[];
  /** The pods that the agent chooses at once, within the limits of the policy. */
  readonly victims: readonly Candidate[];
}

/** Ranks the pods of a node as its agent does (`rankNode`, `ineligibility` and `choose` in shared/decide/eviction), without history. */
export function evictionOrder(shortage: SimulatedShortage, scene: NodeScene, policy: AgentPolicy): EvictionOrder {
  const { signal, stage, gap } = shortage;
  const order = policyOrder(policy.ranking, resourceOf(signal), stage === 'severe' ? 'ignored' : 'honoured');
  const ranked = rankPods(candidatesOf(signal, { ...scene, pods: scene.pods.filter(mayRank) }, policy), order);
  const because = ineligibility(stage, scene, policy);
  const isSafe = safeWithinRequest(ranked, because, policy);
  const leaving = leavingAboveRequest(signal, scene, policy);
  const inStead = heldCause({ ranked, leaving }, because, { stage, gap, policy });
  const held = (candidate: Candidate): Because | undefined => {
    const safe = isSafe(candidate) ?? inStead(candidate);
    return safe?.code === aboveRequestFirst('').code ? undefined : safe;
  };
  const reasonAgainst: typeof because = (candidate, victims) => because(candidate, victims) ?? held(candidate);
  const judged = ranked.map((candidate) => ({ candidate, because: reasonAgainst(candidate, []) }));
  const eligible = judged.filter(({ because }) => because === undefined).map(({ candidate }) => candidate);
  const ownerRule = ownerLimitOf(policy);
  const most = mostVictims(policy);
  const isSevere = stage === 'severe' && most > 0;
  const wanted = { inTime: Infinity, gap, minimum: policy.minimumRelief };
  const least = isSevere
    ? leastRelief(ranked, { ...wanted, reasonAgainst: (each) => because(each, []) ?? inStead(each) })
    : 0;
  const tooSmall = ({ usage = least }: Candidate): Because | undefined => (usage >= least ? undefined : TOO_SMALL);
  const rule: VictimRules['protectionOf'] = (candidate, victims, ineligible) =>
    because(candidate, victims) ??
    ownerRule(candidate, victims, ineligible) ??
    isSafe(candidate) ??
    inStead(candidate, victims) ??
    tooSmall(candidate);
  const choice = chooseVictims(ranked, { protectionOf: rule, most: isSevere ? Infinity : most, gap });
  return {
    eligible: explainRanking(eligible, order, eligible.length),
    ineligible: judged.filter((each): each is Ineligible => each.because !== undefined),
    victims: (isSevere ? withoutUnneeded(choice, gap) : choice.victims).slice(0, most),
  };
}

/** Pods that are terminating and use more than they requested, without those that the kubelet never evicts. */
function leavingAboveRequest(signal: SimulatedSignal, scene: NodeScene, policy: AgentPolicy): readonly Candidate[] {
  const leaving = scene.pods.filter((pod) => !hasEnded(pod) && pod.deletion !== undefined);
  const pods = leaving.filter((pod) => !isMirrorOfNode(pod) && !hasCriticalPriority(pod));
  return candidatesOf(signal, { ...scene, pods }, policy).filter(({ exceedsRequest }) => exceedsRequest);
}

function candidatesOf(signal: SimulatedSignal, scene: NodeScene, policy: AgentPolicy): readonly Candidate[] {
  const { usage, avoided, now } = scene;
  return scene.pods.map((pod) => {
    const owner = ownerOf(pod);
    const isAvoided = owner !== undefined && avoided.has(owner);
    return prepareCandidate(
      rankingFacts(pod),
      usage.get(pod.uid),
      { signal, layout: policy.layout },
      {
        isMarkedLast: isMarkedLast(pod, policy.protect.optOutCeiling),
        ownerDisruptedAt: isAvoided ? now : undefined,
      },
    );
  });
}

/** Pods that have ended or are terminating are not evicted again. */
function mayRank(pod: Pod): boolean {
  return !hasEnded(pod) && pod.deletion === undefined;
}

function ineligibility(
  stage: SimulatedShortage['stage'],
  { namespaces }: NodeScene,
  { protect, ranking, limits }: AgentPolicy,
): (candidate: Candidate, victims: readonly Candidate[]) => Because | undefined {
  const rules = evictionRules(protect, namespaces);
  const overruled = stage === 'severe' && protect.optOut === 'WithinRequest' ? withoutOptOut(rules) : rules;
  const rulesFor = ({ exceedsRequest }: Candidate): ProtectionRules => (exceedsRequest ? overruled : rules);
  const known = new Set(namespaces.map(({ name }) => name));
  return (candidate, victims) => {
    const { pod } = candidate.facts;
    const isUnmeasured = candidate.usage === undefined && ranking.missingStats === 'Never';
    return (
      protectionOf(pod, rulesFor(candidate)) ??
      (known.has(pod.namespace) ? undefined : namespaceUnknown(pod.namespace)) ??
      (isUnmeasured ? NO_STATISTICS : undefined) ??
      (protect.withinRequest && stage === 'mild' ? withinRequestProtection(candidate) : undefined) ??
      namespaceRule(pod, victims, limits.perNamespacePerTenMinutes)
    );
  };
}

/**
 * A pod within its request stays while another pod that may hold more than it requested stays, unless the kubelet never
 * evicts that one (docs/contributing/decisions/within-request.md). One that may go is ranked before it.
 */
function safeWithinRequest(
  ranked: readonly Candidate[],
  reasonAgainst: (candidate: Candidate, victims: readonly Candidate[]) => Because | undefined,
  { ranking }: AgentPolicy,
): (candidate: Candidate) => Because | undefined {
  const judged = ranked.map((candidate) => ({ candidate, because: reasonAgainst(candidate, []) }));
  const holders = judged.filter(({ candidate, because }) => mayHoldMore(candidate, because));
  const holder = holders.find(({ because }) => because === undefined || isOwnReason(because));
  if (holder === undefined) return () => undefined;
  const pod = nameOf(holder.candidate);
  const why = holder.because === undefined ? aboveRequestFirst(pod) : aboveRequestHeld(pod, holder.because.text);
  return ({ exceedsRequest, usage }) => {
    const isRankedByKubelet = usage === undefined && ranking.missingStats === 'First';
    return exceedsRequest || isRankedByKubelet ? undefined : why;
  };
}

interface ShortageOfPolicy {
  readonly stage: SimulatedShortage['stage'];
  readonly gap: number;
  readonly policy: AgentPolicy;
}

/** A pod that stays, and why. */
interface NamedTaking extends HeldTaking {
  readonly pod: string;
  readonly because: Because | undefined;
}

/** As `heldCause` in shared/decide/eviction/ranking: nobody goes in the stead of the pod that causes the shortage; no growth is known. */
function heldCause(
  { ranked, leaving }: { readonly ranked: readonly Candidate[]; readonly leaving: readonly Candidate[] },
  reasonAgainst: (candidate: Candidate, victims: readonly Candidate[]) => Because | undefined,
  { stage, gap, policy }: ShortageOfPolicy,
): (candidate: Candidate, victims?: readonly Candidate[]) => Because | undefined {
  const ownerRule = ownerLimitOf(policy);
  const takings = ranked.map((candidate, rank): NamedTaking | undefined => {
    const because = reasonAgainst(candidate, []);
    const isHeld = because !== undefined && isOwnReason(because);
    const mayGo = because === undefined && ownerRule(candidate, [], []) === undefined;
    const wishesLast = stage === 'mild' && candidate.isMarkedLast;
    if (!candidate.exceedsRequest || !(isHeld || (mayGo && wishesLast))) return undefined;
    const standing = isHeld ? 'held' : 'lastWish';
    return { ...takingOf(candidate, rank), standing, wishesLast, pod: nameOf(candidate), because };
  });
  const terminating = leaving.map((candidate) => {
    return { ...takingOf(candidate, -1), standing: 'held', pod: nameOf(candidate), because: TERMINATING } as const;
  });
  const held = [...takings.filter((each) => each !== undefined), ...terminating];
  const ranks = new Map(ranked.map((candidate, rank) => [candidate, rank]));
  return (candidate, victims = []) => {
    if (!candidate.exceedsRequest) return undefined;
    const going = new Set([candidate, ...victims].map(nameOf));
    const others = held.filter(({ pod }) => !going.has(pod));
    const scene = { gap, lost: [], isLastChance: false };
    const cause = inWhoseStead(takingOf(candidate, ranks.get(candidate) ?? 0), others, scene);
    return cause && causeHeld(cause.pod, (cause.because ?? GOES_LATER).text);
  };
}

function takingOf({ facts, usage = 0, roundedOverage }: Candidate, rank: number): Omit<HeldTaking, 'standing'> {
  return { priority: facts.priority, usage, overage: roundedOverage, rank, growth: [] };
}

function mayHoldMore({ exceedsRequest, usage, facts: { pod } }: Candidate, because: Because | undefined): boolean {
  return (
    exceedsRequest || (usage === undefined && pod.status.phase === 'Running' && because?.code === NO_STATISTICS.code)
  );
}

function mostVictims({ limits }: AgentPolicy): number {
  return Math.min(limits.concurrent, limits.perMinute, limits.perTenMinutes);
}

function namespaceRule({ namespace }: Pod, victims: readonly Candidate[], most: number): Because | undefined {
  const chosen = victims.filter(({ facts }) => facts.pod.namespace === namespace).length;
  return chosen < most ? undefined : namespaceLimit(most);
}

function ownerLimitOf({ perOwnerPerHour: most }: AgentPolicy): VictimRules['protectionOf'] {
  return (candidate, victims, ineligible) => {
    const owner = ownerOf(candidate.facts.pod);
    const chosen = victims.filter(({ facts }) => ownerOf(facts.pod) === owner).length;
    if (owner !== undefined && chosen >= most) return ownerLimit(most);
    const limited = ineligible.filter(({ because }) => because.code === OWNER_LIMIT_CODE);
    const largest = overageOfLimited(
      candidate,
      limited.map((each) => each.candidate),
    );
    return largest === undefined ? undefined : LESS_THAN_LIMITED_OWNER;
  };
}

const OWNER_LIMIT_CODE = ownerLimit(0).code;

/** What the policy of a node protects. */
interface Protect {
  readonly namespaces: readonly string[];
  readonly optOutCeiling: number;
}

/** In the severe stage, an opt-out that covers only what was requested does not protect a pod above its request. */
function withoutOptOut(rules: ProtectionRules): ProtectionRules {
  return { ...rules, wantsToStay: () => false };
}

/** Which pods are never evicted for node pressure, by the policy of their node and the labels of namespaces. */
export function evictionRules(
  { namespaces, optOutCeiling }: Protect,
  inCluster: readonly Namespace[],
): ProtectionRules {
  const ignored = inCluster.filter(({ labels }) => labels.get(LABEL_IGNORE) === 'true').map(({ name }) => name);
  return {
    protectedNamespaces: new Set([...PROTECTED_NAMESPACES, ...namespaces, ...ignored]),
    optOutCeiling,
    wantsToStay: ({ annotations }) => !ownerWishes(annotations).mayBeEvicted,
  };
}
