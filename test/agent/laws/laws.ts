import type { PassResult } from '#agent/decide/decide.ts';
import { runAlone, runWithAgent, type Witness } from './episode.ts';
import type { Tamper } from './agent.ts';
import { gateCodes, gateFault, isHeld } from './gates.ts';
import {
  isAbove,
  isInside,
  isReplacement,
  isUntouchable,
  KUBELET_PERIOD_MS,
  type LawNode,
  type LivePod,
  MAX_KILLS,
} from './node.ts';
import { limitFault, standBackFault } from './pace.ts';
import type { LawPod, PolicyChoice, Scenario } from './scenario.ts';

/**
 * `inside`: nobody inside its request goes while a pod above its own is there. `stead`: nobody goes in the stead of a less
 * important pod above its request that is held. `asked`: the pod that takes the memory is
 * asked before the kernel kills. `innocents`, `oom`, `short`: the node is no worse than with the kubelet alone. `dryRun`:
 * nothing differs from the kubelet alone. `gate`: what is said to hold evictions back does. `limits`: no window of the
 * policy is exceeded, except in the last chance up to the kubelet's pace. `standBack`: after the kubelet evicted a pod, the
 * agent waits.
 */
export type Law =
  'inside' | 'stead' | 'asked' | 'innocents' | 'oom' | 'short' | 'dryRun' | 'gate' | 'limits' | 'standBack';

/** A law that an episode broke; `cause` groups breaches. */
export interface Breach {
  readonly law: Law;
  readonly cause: string;
  readonly atMs: number;
  readonly text: string;
}

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
/** So long after the last request, and after the hard threshold was met, a reason must be given. */
const IDLE_MS = 1500;

/** Runs an episode without and with the agent, and holds it against the laws. */
export async function judge(scenario: Scenario, tamper?: Tamper): Promise<Outcome> {
  const watch = new LawWatch(scenario);
  const alone = runAlone(scenario);
  const node = await runWithAgent(scenario, watch, tamper);
  return { breaches: [...watch.breaches, ...compare(alone, node, watch.asked)], alone, node };
}

class LawWatch implements Witness {
  readonly breaches: Breach[] = [];
  /** Pods inside their requests that the agent asked while no pod was above its own. */
  asked = 0;
  readonly #scenario: Scenario;
  readonly #decidedAtMs = new Map<string, number>();
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
    const sinceMs = (this.#decidedAtMs.get(victim.uid) ?? node.nowMs) - MEASURED_MS;
    const holders = node.pods.filter((pod) => pod !== victim && isHolder(pod, sinceMs, this.#scenario));
    if (holders.length === 0) this.asked += 1;
    else if ((victim.insideSinceMs ?? Infinity) <= sinceMs)
      this.#break('inside', causeOf(holders, this.#scenario), node, victim);
  }

  #checkStead(victim: LivePod, node: LawNode): void {
    const decidedAtMs = this.#decidedAtMs.get(victim.uid) ?? node.nowMs;
    if (victim.deletion !== undefined || isInside(victim)) return;
    const spared = node.pods.filter((pod) => isSpared(pod, decidedAtMs - MEASURED_MS, this.#scenario));
    // Victims of one pass are needed together.
    const instead = spared.filter((pod) => pod.askedAtMs !== node.nowMs && goesFirst(pod, victim, node));
    if (instead.length > 0) this.#break('stead', causeOf(instead, this.#scenario), node, victim);
  }

  onTick(node: LawNode): void {
    const isBelow = node.availableMiB() < this.#scenario.policy.hardMiB;
    if (node.oomKills > this.#kills) this.#killed(node);
    else if (!isBelow) this.#belowSinceMs = undefined;
    else if (this.#belowSinceMs === undefined) this.#crossed(node);
    this.#kills = node.oomKills;
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
    if (culprit !== undefined && culprit.askedAtMs === undefined && canBeAsked(culprit, sinceMs, this.#scenario))
      this.#break(
        'asked',
        `${this.#codes || 'no gate'}${culprit.spec.wish === 'never' ? ' + opted out' : ''}`,
        node,
        culprit,
      );
  }

  /** The pod that took most of the memory since the hard threshold was met. */
  #culprit(node: LawNode, elapsedMs: number): LivePod | undefined {
    const taken = ({ uid, spec }: LivePod): number =>
      Math.min((spec.growsMiB * elapsedMs) / 1000, spec.mostMiB - (this.#usedAtCrossing.get(uid) ?? spec.mostMiB));
    const [culprit] = node.pods.toSorted((left, right) => taken(right) - taken(left));
    const others = (this.#scenario.outsideGrowsMiB * elapsedMs) / 1000;
    return culprit !== undefined && taken(culprit) > others ? culprit : undefined;
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

/** A pod above its request that the kubelet would evict and the agent may not. */
function isSpared(pod: LivePod, sinceMs: number, scenario: Scenario): boolean {
  const { spec } = pod;
  // In the severe stage the opt-out of a pod above its request counts only if the policy says so.
  const isWishAlone = spec.wish === 'never' && scenario.policy.optOut !== 'Always' && spec.namespace !== 'kube-system';
  const isWishOnly = isWishAlone && spec.fault === undefined && pod.deletion === undefined;
  return isHolder(pod, sinceMs, scenario) && isHeld(pod) && !isWishOnly;
}

/**
 * Whether the kubelet evicts a pod before a more important victim. The victim goes nevertheless if the ranking of the policy has it first, or if it is the one that takes the memory.
 */
function goesFirst(pod: LivePod, victim: LivePod, node: LawNode): boolean {
  const { ranking, daemonSets } = node.scenario.policy;
  if (ranking !== 'Kubernetes' || (pod.spec.kind === 'DaemonSet' && daemonSets === 'Last')) return false;
  const takes = victim.spec.growsMiB > pod.spec.growsMiB || isReplacement(victim);
  return pod.spec.priority < victim.spec.priority && !takes;
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
function couldAct({ nowMs, events, pods, scenario: { policy, api } }: LawNode, sinceMs: number): boolean {
  const { mode, concurrent, perMinute, perTenMinutes, perNamespace, perOwnerPerHour, missingStats } = policy;
  const isNone = [concurrent, perMinute, perTenMinutes, perNamespace, perOwnerPerHour].includes(0);
  const isFaulty = api.some(({ fromMs, toMs }) => fromMs <= nowMs && toMs > sinceMs);
  const kubeletActs = events.some(({ kind, atMs }) => kind === 'kubelet' && nowMs - atMs < TIME_LEFT_MS);
  // The operator has pods without statistics go first, whatever they bring.
  const isBlind = missingStats === 'First' && pods.some(({ spec }) => !spec.isMeasured);
  return mode === 'Enforce' && !isNone && !isFaulty && !kubeletActs && !isBlind;
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

function hasOptedOut({ wish, priority }: LawPod, { optOutCeiling }: PolicyChoice): boolean {
  return wish === 'never' && priority <= optOutCeiling;
}

/**
 * What is worse with the agent. Episodes that the kernel ends are not compared, nor those in which the agent evicted at
 * the operator's threshold while no pod was above its request, which is what the operator asked for, nor those in which a
 * victim does not end.
 */
function compare(alone: LawNode, node: LawNode, asked: number): readonly Breach[] {
  const worse = (law: Law, without: number, withAgent: number, tolerated = 0): readonly Breach[] =>
    withAgent <= without + tolerated
      ? []
      : [
          {
            law,
            cause: circumstances(node),
            atMs: node.nowMs,
            text: `${without} without the agent, ${withAgent} with it`,
          },
        ];
  if (node.scenario.policy.mode === 'DryRun') return worse('dryRun', summary(alone) === summary(node) ? 0 : -1, 0);
  if (asked > 0 || alone.oomKills >= MAX_KILLS || !isWorse(alone, node)) return [];
  // Case C-16 of docs/contributing/shortage-cases.md: nothing keeps the replacement of a victim off the node.
  const isReplaced = !node.scenario.isTainted && node.pods.some(isReplacement);
  if (isReplaced || node.pods.some(outlivesSigkill)) return [];
  // What the agent frees moves the shortage against the kubelet's looks: it is compared with the kubelet at every phase.
  const phases = [alone, ...otherPhases(node.scenario)];
  const most = (figure: (each: LawNode) => number): number => Math.max(...phases.map(figure));
  return [
    ...worse('innocents', most(innocentsOf), node.innocents),
    ...worse('oom', most(killsOf), node.oomKills),
    ...worse('short', most(shortOf), node.shortMs, KUBELET_PERIOD_MS),
  ];
}

/** Where the kernel kills for ever, it comes to the pods inside their requests too, only later. */
const innocentsOf = ({ innocents, oomKills }: LawNode): number => (oomKills < MAX_KILLS ? innocents : Infinity);
const killsOf = ({ oomKills }: LawNode): number => oomKills;
const shortOf = ({ shortMs }: LawNode): number => shortMs;

function isWorse(alone: LawNode, node: LawNode): boolean {
  const isMore = (figure: (each: LawNode) => number): boolean => figure(node) > figure(alone);
  return node.innocents > alone.innocents || isMore(killsOf) || isMore(shortOf);
}

/** Whether the agent evicted it and its processes outlive SIGKILL, which frees nothing and which nothing foretells. */
function outlivesSigkill({ spec, acceptedAtMs, deletion }: LivePod): boolean {
  if (acceptedAtMs === undefined || deletion === undefined) return false;
  return spec.hangsMs > 0 && spec.shutdownMs > deletion.graceSeconds * 1000;
}

/** The kubelet alone, had it looked at another second; it has one look more, as the agent ends pods sooner. */
function otherPhases(scenario: Scenario): readonly LawNode[] {
  const lengthMs = scenario.lengthMs + KUBELET_PERIOD_MS;
  return Array.from({ length: KUBELET_PERIOD_MS / 1000 }, (_, second) =>
    runAlone({ ...scenario, lengthMs, kubelet: { ...scenario.kubelet, phaseMs: second * 1000 } }),
  );
}

/** What makes the agent's node harder than the kubelet's alone; groups the breaches of a comparison. */
function circumstances({ scenario, pods }: LawNode): string {
  if (scenario.api.length > 0) return 'the API server fails';
  if (pods.some(isReplacement)) return 'a replacement lands on the node';
  return 'nothing special';
}

function summary({ events, oomKills, shortMs }: LawNode): string {
  return JSON.stringify([events, oomKills, shortMs]);
}
