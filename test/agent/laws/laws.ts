import type { PassResult } from '#shared/decide/eviction/decide.ts';
import type { Eviction } from '#shared/decide/eviction/eviction.ts';
import type { Breach, Law } from './breach.ts';
import { compare } from './compare.ts';
import { runAlone, runWithAgent, UNWATCHED, type Witness } from './episode.ts';
import type { Tamper } from './agent.ts';
import { gateCodes, gateFault, isHeld } from './gates.ts';
import { byRank } from './kubelet.ts';
import {
  isAbove,
  isInside,
  isReplacement,
  isUntouchable,
  KUBELET_PERIOD_MS,
  type LawNode,
  type LivePod,
} from './node.ts';
import { isAsFastAsKubelet, limitFault, standBackFault } from './pace.ts';
import type { LawPod, PolicyChoice, Scenario } from './scenario.ts';
import { UsageHistory } from './usage-history.ts';

/** What became of an episode without and with the agent. */
export interface Outcome {
  readonly breaches: readonly Breach[];
  readonly alone: LawNode;
  readonly node: LawNode;
}

/** A decision may use a measurement this old. */
const MEASURED_MS = 1200;
/** The agent has this long from its hard threshold until nothing is left; and one pass to see it. */
const TIME_LEFT_MS = 2300;
/** How long after its grace period the agent waits for a victim when memory is nearly gone (docs/contributing/decisions/within-request.md). */
const CLEAN_UP_MS = 2000;
/** From a decision to freed pages. */
const RELIEF_MS = 2000;
/** So long after the last request, and after the hard threshold was met, a reason must be given. */
const IDLE_MS = 1500;

/** Runs an episode without and with the agent, and holds it against the laws. */
export async function judge(scenario: Scenario, tamper?: Tamper): Promise<Outcome> {
  const watch = new LawWatch(scenario);
  const alone = runAlone(scenario);
  const node = await runWithAgent(scenario, watch, tamper);
  const rerun = (other: Scenario): Promise<LawNode> => runWithAgent(other, UNWATCHED, tamper);
  const worse = await compare(alone, node, { asked: watch.asked, rerun });
  return { breaches: [...watch.breaches, ...worse], alone, node };
}

class LawWatch implements Witness {
  readonly breaches: Breach[] = [];
  /** Pods inside their requests that the agent asked while no pod was above its own. */
  asked = 0;
  readonly #scenario: Scenario;
  readonly #history = new UsageHistory();
  readonly #decidedAtMs = new Map<string, number>();
  readonly #stages = new Map<string, Eviction['stage']>();
  #codes = '';
  #belowSinceMs: number | undefined;
  #usedAtCrossing = new Map<string, number>();
  #kills = 0;
  #askedAtMs = -Infinity;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
  }

  onPass(result: PassResult, node: LawNode): void {
    for (const eviction of result.decision.evictions) {
      this.#decidedAtMs.set(eviction.pod.uid, node.nowMs);
      this.#stages.set(eviction.pod.uid, eviction.stage);
      const broken = eviction.isShortening ? undefined : (limitFault(eviction, node) ?? standBackFault(eviction, node));
      if (broken !== undefined) this.#break(...broken, node, node.find(eviction.pod.uid));
    }
    this.#codes = gateCodes(result);
    if (result.decision.evictions.length === 0 && this.#isIdle(node)) this.#checkGate(result, node);
  }

  onEviction(victim: LivePod, node: LawNode): void {
    this.#askedAtMs = node.nowMs;
    this.#checkStead(victim, node);
    // Of a pod without statistics nobody knows whether it is inside: the policy decides.
    if (!isInside(victim) || !victim.spec.isMeasured || victim.deletion !== undefined) return;
    // While the watch stalls, the agent may ask about a pod that has ended.
    if (victim.endsAtMs <= node.nowMs) return;
    const sinceMs = (this.#decidedAtMs.get(victim.uid) ?? node.nowMs) - MEASURED_MS;
    const holders = node.pods.filter((pod) => pod !== victim && isHolder(pod, sinceMs, this.#scenario));
    if (holders.length === 0) this.asked += 1;
    else if ((victim.insideSinceMs ?? Infinity) <= sinceMs)
      this.#break('inside', causeOf(holders, this.#scenario), node, victim);
  }

  #checkStead(victim: LivePod, node: LawNode): void {
    // Of a pod without statistics nobody knows whether it is above: the policy decides, and the kubelet takes it first.
    if (victim.deletion !== undefined || isInside(victim) || !victim.spec.isMeasured) return;
    const instead = node.pods.filter((pod) => this.#isSpared(pod, victim) && goesFirst(pod, victim, node));
    const tooLittle = instead.reduce((sum, { usedMiB }) => sum + usedMiB, 0) < shortageMiB(node);
    const goesAnyway = (pod: LivePod): boolean =>
      this.#history.tookMore(victim, pod) || (tooLittle && this.#history.tookMoreSinceStart(victim, pod));
    const causes = instead.filter((pod) => !goesAnyway(pod));
    if (causes.length > 0) this.#break('stead', causeOf(causes, this.#scenario), node, victim);
  }

  /** A pod above its request that the kubelet would evict, and that the agent knew to be held when it chose the victim. */
  #isSpared(pod: LivePod, victim: LivePod): boolean {
    const decidedAtMs = this.#decidedAtMs.get(victim.uid) ?? Infinity;
    // Victims of one pass are needed together.
    if (this.#decidedAtMs.get(pod.uid) === decidedAtMs) return false;
    if (!isHolder(pod, decidedAtMs - MEASURED_MS, this.#scenario)) return false;
    // What a pod that cannot be read asked for, and how important it is, is unknown.
    if (pod.spec.fault === 'unreadable') return false;
    const isMild = this.#stages.get(victim.uid) === 'mild';
    const { policy } = this.#scenario;
    if (isHeldByItsSpec(pod, isMild, policy) || this.#isRefused(pod, decidedAtMs)) return true;
    const { acceptedAtMs, deletion, isEvictedByKubelet } = pod;
    const isKnown = acceptedAtMs !== undefined || !isWatchStalling(this.#scenario, decidedAtMs);
    return isKnown && (deletion !== undefined || isEvictedByKubelet);
  }

  /** Until it has asked, the agent does not know that a pod is held; and it forgets so after a period of the kubelet. */
  #isRefused({ uid, spec, askedAtMs }: LivePod, decidedAtMs: number): boolean {
    const triedAtMs = this.#decidedAtMs.get(uid) ?? -Infinity;
    const isAnswered = askedAtMs === undefined ? spec.fault === 'getFails' : askedAtMs < decidedAtMs;
    return spec.fault !== undefined && isAnswered && decidedAtMs - triedAtMs < KUBELET_PERIOD_MS;
  }

  onTick(node: LawNode): void {
    const isBelow = node.availableMiB() < this.#scenario.policy.hardMiB;
    if (node.oomKills > this.#kills) this.#killed(node);
    else if (!isBelow) this.#belowSinceMs = undefined;
    else if (this.#belowSinceMs === undefined) this.#crossed(node);
    this.#kills = node.oomKills;
    this.#history.note(node);
  }

  #crossed(node: LawNode): void {
    this.#belowSinceMs = node.nowMs;
    this.#usedAtCrossing = new Map(node.pods.map(({ uid, usedMiB }) => [uid, usedMiB]));
  }

  #killed(node: LawNode): void {
    // A victim that does not end is known as such only after its grace period and the time to clean up.
    const victims = node.pods.filter(({ endsAtMs }) => endsAtMs >= node.nowMs);
    const sinceMs = Math.max(this.#belowSinceMs ?? node.nowMs, ...victims.map(awaitedUntilMs));
    this.#belowSinceMs = undefined;
    if (this.#kills > 0 || node.nowMs - sinceMs < TIME_LEFT_MS || !couldAct(node, sinceMs)) return;
    const culprit = this.#culprit(node, node.nowMs - sinceMs);
    if (culprit === undefined || culprit.askedAtMs !== undefined || !canBeAsked(culprit, sinceMs, this.#scenario))
      return;
    const cause = `${this.#codes || 'no gate'}${culprit.spec.wish === 'never' ? ' + opted out' : ''}`;
    this.#break('asked', cause, node, culprit);
  }

  /** Whether a pod that is held took more just before, or alike and the kubelet evicts it first: then nobody goes in its stead. */
  #hasHeldCause(culprit: LivePod, { pods }: LawNode): boolean {
    const held = pods.filter((pod) => !isUntouchable(pod.spec) && isHeld(pod));
    const isAbove = (pod: LivePod): boolean => this.#history.usedMiB(pod) > pod.requestMiB;
    const isCause = (pod: LivePod): boolean =>
      this.#history.tookMore(pod, culprit) || (byRank(pod, culprit) < 0 && this.#history.tookAlike(pod, culprit));
    return held.some((pod) => pod !== culprit && isAbove(pod) && isCause(pod));
  }

  /** The pod that took most of the memory since the hard threshold was met. */
  #culprit(node: LawNode, elapsedMs: number): LivePod | undefined {
    const taken = ({ uid, spec }: LivePod): number =>
      Math.min((spec.growsMiB * elapsedMs) / 1000, spec.mostMiB - (this.#usedAtCrossing.get(uid) ?? spec.mostMiB));
    const [culprit] = node.pods.toSorted((left, right) => taken(right) - taken(left));
    const others = (this.#scenario.outsideGrowsMiB * elapsedMs) / 1000;
    const isTaker = culprit !== undefined && taken(culprit) > others && !this.#hasHeldCause(culprit, node);
    return isTaker ? culprit : undefined;
  }

  #isIdle(node: LawNode): boolean {
    const { mode, hardMiB } = this.#scenario.policy;
    const sinceMs = Math.max(this.#askedAtMs, this.#belowSinceMs ?? Infinity);
    return mode === 'Enforce' && node.availableMiB() < hardMiB && node.nowMs - sinceMs >= IDLE_MS;
  }

  #checkGate(result: PassResult, node: LawNode): void {
    const fault = gateFault(result, node);
    const isKnown = this.breaches.some(({ law, cause }) => law === 'gate' && cause === fault);
    if (fault !== undefined && !isKnown) this.#break('gate', fault, node);
  }

  #break(law: Law, cause: string, { nowMs }: LawNode, pod?: LivePod): void {
    this.breaches.push({ law, cause, atMs: nowMs, text: [pod?.uid, this.#codes].filter(Boolean).join(': ') });
  }
}

function awaitedUntilMs({ acceptedAtMs, deletion }: LivePod): number {
  if (acceptedAtMs === undefined || deletion === undefined) return -Infinity;
  return acceptedAtMs + deletion.graceSeconds * 1000 + CLEAN_UP_MS;
}

/** What is missing, and what is taken besides until an eviction brings relief. */
function shortageMiB(node: LawNode): number {
  const { policy, outsideGrowsMiB } = node.scenario;
  const { hardMiB, softMiB = 0, reclaimMiB = 0 } = policy;
  const growing = node.pods.filter(({ usedMiB, spec }) => usedMiB > 0 && usedMiB < spec.mostMiB);
  const rateMiB = growing.reduce((sum, { spec }) => sum + spec.growsMiB, outsideGrowsMiB);
  return Math.max(hardMiB, softMiB) + reclaimMiB - node.availableMiB() + (rateMiB * RELIEF_MS) / 1000;
}

/** Whether a pod is held by what the agent sees before it asks; in the severe stage an opt-out covers the request alone. */
function isHeldByItsSpec({ spec }: LivePod, isMild: boolean, policy: PolicyChoice): boolean {
  const isWish = hasOptedOut(spec, policy) && ((isMild && !isInSpareRoom(spec)) || policy.optOut === 'Always');
  return spec.namespace === 'kube-system' || isWish;
}

/** What becomes of a pod meanwhile the agent learns only later. */
function isWatchStalling({ api }: Scenario, atMs: number): boolean {
  return api.some(({ kind, fromMs, toMs }) => kind === 'watchStalls' && fromMs <= atMs && atMs < toMs);
}

/**
 * Whether the kubelet evicts a pod before a more important victim. The victim goes nevertheless if the ranking of the policy
 * has it first, or if it is the one that takes the memory. What runs in spare room goes before everything else.
 */
function goesFirst(pod: LivePod, victim: LivePod, node: LawNode): boolean {
  const [isSpare, isVictimSpare] = [isInSpareRoom(pod.spec), isInSpareRoom(victim.spec)];
  if (isSpare !== isVictimSpare) return isSpare;
  const { ranking, daemonSets } = node.scenario.policy;
  if (ranking !== 'Kubernetes' || (pod.spec.kind === 'DaemonSet' && daemonSets === 'Last')) return false;
  return pod.spec.priority < victim.spec.priority && !isReplacement(victim);
}

/** A pod that came while the watch stalls is unknown to the agent. */
function isHolder(pod: LivePod, sinceMs: number, { api }: Scenario): boolean {
  if (api.some(({ kind, fromMs }) => kind === 'watchStalls' && pod.bornMs > fromMs - MEASURED_MS)) return false;
  return !isUntouchable(pod.spec) && pod.spec.isMeasured && isAbove(pod) && (pod.aboveSinceMs ?? Infinity) <= sinceMs;
}

function causeOf(holders: readonly LivePod[], scenario: Scenario): string {
  return [...new Set(holders.map((each) => whyHeld(each, scenario)))].sort().join(' + ');
}

function whyHeld(pod: LivePod, { policy }: Scenario): string {
  const { spec, deletion, isEvictedByKubelet } = pod;
  if (isEvictedByKubelet) return 'evicted by the kubelet';
  if (deletion !== undefined) return 'terminating';
  if (spec.namespace === 'kube-system') return 'kube-system';
  if (hasOptedOut(spec, policy)) return 'opted out';
  return spec.fault ?? (spec.resize && `resize ${spec.resize.state}`) ?? `ranking ${String(policy.ranking)}`;
}

/** Whether the policy lets the agent act at all, and the API server and the kubelet left it the time. */
function couldAct(node: LawNode, sinceMs: number): boolean {
  const { nowMs, events, pods } = node;
  const { policy, api } = node.scenario;
  const { mode, concurrent, perMinute, perTenMinutes, perNamespace, perOwnerPerHour, missingStats } = policy;
  const isNone = [concurrent, perMinute, perTenMinutes, perNamespace, perOwnerPerHour].includes(0);
  const isFaulty = api.some(({ fromMs, toMs }) => fromMs <= nowMs && toMs > sinceMs);
  const kubeletActs = events.some(({ kind, atMs }) => kind === 'kubelet' && nowMs - atMs < TIME_LEFT_MS);
  // The operator has pods without statistics go first, whatever they bring.
  const isBlind = missingStats === 'First' && pods.some(({ spec }) => !spec.isMeasured);
  const isHindered = isFaulty || kubeletActs || isBlind || isAsFastAsKubelet(node);
  return mode === 'Enforce' && !isNone && !isHindered;
}

function canBeAsked(pod: LivePod, sinceMs: number, { policy }: Scenario): boolean {
  const { spec, deletion, isEvictedByKubelet, aboveSinceMs } = pod;
  const isLeaving = deletion !== undefined || isEvictedByKubelet;
  if (isLeaving || !spec.isMeasured || isProtected(spec, policy)) return false;
  return !['getFails', 'unreadable'].includes(spec.fault ?? '') && (aboveSinceMs ?? Infinity) <= sinceMs;
}

function isProtected(spec: LawPod, policy: PolicyChoice): boolean {
  if (isUntouchable(spec) || spec.namespace === 'kube-system') return true;
  return policy.optOut === 'Always' && hasOptedOut(spec, policy);
}

function isInSpareRoom({ isInSpareRoom: isIt = false }: LawPod): boolean {
  return isIt;
}

function hasOptedOut({ wish, priority }: LawPod, { optOutCeiling }: PolicyChoice): boolean {
  return wish === 'never' && priority <= optOutCeiling;
}
