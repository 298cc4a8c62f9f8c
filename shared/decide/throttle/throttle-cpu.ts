/*
 * Relief of a CPU shortage without an eviction: pods that use more CPU than they request get a lower CPU limit, and the
 * old one back afterwards. Memory cannot be relieved so: a limit below what is used frees nothing.
 */
import type { Because } from '#shared/domain/base/because.ts';
import { MINUTE_MS } from '#shared/domain/base/durations.ts';
import { podName } from '#shared/domain/base/texts.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import { NANO_PER_MILLI } from '#shared/domain/ranking/pod-usage.ts';
import { type Mode, stallKey, stallMode, type StallRule } from '#shared/api/node-pressure-policy/policy.ts';
import type { ThrottledEntry } from '#shared/api/node-pressure.ts';
import type { PassResult } from '#shared/decide/eviction/decide.ts';
import { evictionsFor } from '#shared/decide/eviction/history/eviction-state.ts';
import { lastingProtection, rankNode } from '#shared/decide/eviction/ranking/rank-node.ts';
import { isWaitingFor, neededOf } from '#shared/decide/eviction/shortage/advance-stalls.ts';
import { mayAct } from '#shared/decide/eviction/shortage/rule-activation.ts';
import type { CpuRoom, NodeSnapshot } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { THROTTLING } from './messages.ts';

/** A shortage that throttling is to relieve; amounts are millicores. */
export interface CpuShortage {
  readonly mode: Mode;
  /** What is missing of the CPU that is to be idle. */
  readonly gap: number;
}

const MILLI = 1000;

/** The shortage of CPU right now, if the policy throttles for it. */
export function cpuShortage(result: PassResult): CpuShortage | undefined {
  const { snapshot, decision, policy } = result;
  const rule = throttlingRule(result);
  const isHeld = snapshot.closedGates.length > 0 || snapshot.doubts.has('cpu.pressure');
  if (rule === undefined || isHeld || snapshot.cpu?.idleNow === undefined) return undefined;
  if (decision.state.stalls.get(stallKey(rule))?.isWaiting !== true) return undefined;
  const gap = keptFree(rule, snapshot.cpu) - idleMilli(snapshot.cpu);
  const mode = mayAct(decision.state.activations, stallKey(rule)) ? stallMode(rule, policy) : 'DryRun';
  return gap > 0 ? { mode, gap } : undefined;
}

function throttlingRule({ policy }: PassResult): StallRule | undefined {
  return policy.throttlesCpu ? policy.stallRules.find(({ signal }) => signal === 'cpu.pressure') : undefined;
}

function keptFree({ evidence }: StallRule, { cores }: CpuRoom): number {
  return Math.ceil(neededOf(evidence.below, cores) * MILLI);
}

function idleMilli({ idleNow = 0 }: CpuRoom): number {
  return Math.round(idleNow * MILLI);
}

/**
 * Pods above their CPU request, in the order in which they would be evicted. Only Burstable ones: a lower limit would
 * change the QoS class of others. None in the stead of pods that take what is missing beyond their own requests and are
 * less important, or come first and cannot be throttled (`cannot` by UID, as far as pods had to be read for it): they would
 * get what it loses. Where stalls of pods are measured, only while a pod of at least the same priority waits.
 */
export function podsToThrottle(
  { snapshot, policy, decision }: PassResult,
  { mode, gap }: CpuShortage,
  cannot: (uid: string) => boolean = () => false,
): readonly Candidate[] {
  const evictions = evictionsFor(mode, decision.state.evictions);
  const ranked = rankNode({ signal: 'cpu.pressure', stage: 'mild', evictions }, snapshot, policy);
  const burning = ranked.filter(({ exceedsRequest }) => exceedsRequest);
  const isAble = ({ facts: { pod, qos } }: Candidate): boolean => {
    const isProtected = lastingProtection(pod, policy, snapshot.namespaces) !== undefined;
    return qos === 'Burstable' && !isProtected && !cannot(pod.uid);
  };
  const able = new Set(burning.filter(isAble));
  return burning.filter((each, index) => {
    if (!able.has(each)) return false;
    const takers = burning.filter(
      (other, at) => other.facts.priority < each.facts.priority || (at < index && !able.has(other)),
    );
    return sumOver(takers) < gap && makesOthersWait(each, snapshot);
  });
}

/** What pods use beyond their requests, in millicores. */
function sumOver(pods: readonly Candidate[]): number {
  return pods.reduce((sum, { roundedOverage }) => sum + roundedOverage, 0) / NANO_PER_MILLI;
}

function makesOthersWait({ facts: own }: Candidate, { pods, podPressures }: NodeSnapshot): boolean {
  const isMeasured = [...podPressures.values()].some(({ waiting }) => waiting.cpu !== undefined);
  const waits = ({ uid }: Pod): boolean => {
    const pressure = podPressures.get(uid);
    return uid !== own.pod.uid && pressure !== undefined && isWaitingFor('cpu', pressure);
  };
  return !isMeasured || pods.running.some(({ pod, priority }) => priority >= own.priority && waits(pod));
}

/** The CPU of a container that a limit can be lowered for, in millicores. */
export interface CpuOfContainer {
  readonly container: string;
  readonly request: number;
  readonly limit: number;
}

/** The kernel enforces no smaller limit, and less is not worth a change. */
const LEAST_MILLI = 10;

/**
 * The entry for a lower limit; `undefined` if the pod would free nothing. It takes what is missing, at least half of what
 * the pod uses beyond its request: what becomes free is taken by those that waited. A limit that equals the request could
 * make the pod Guaranteed, which the API server refuses.
 */
export function lowerLimit(
  { facts: { pod }, usage = 0 }: Pick<Candidate, 'facts' | 'usage'>,
  { container, request, limit }: CpuOfContainer,
  gap: number,
  { earlier, now }: { readonly earlier: ThrottledEntry | undefined; readonly now: Instant },
): ThrottledEntry | undefined {
  const used = Math.min(limit, Math.round(usage / NANO_PER_MILLI));
  const lower = Math.floor(used - Math.max(gap, (used - request) / 2));
  const to = Math.max(lower, request + 1, LEAST_MILLI);
  if (to > used - LEAST_MILLI) return undefined;
  const facts = { used, request, limit, to };
  const because = THROTTLING.lowered(facts, facts);
  const { before, used: wanted, at: since } = earlier ?? { before: limit, used, at: now };
  return { pod: podName(pod), uid: pod.uid, container, before, from: limit, to, used: wanted, at: since, because };
}

/** A limit that a pod gets back, whole or in part. */
export interface RaisedLimit {
  readonly limit: number;
  readonly isWhole: boolean;
  readonly because: Because;
}

/** What is idle is given back in part only if it is at least so much, as a share of the lowered limit. */
const LEAST_RAISE = 0.1;
/** A pod that uses less of its limit is not held by it. */
const AT_LIMIT = 0.8;
/** After this time a pod gets its limit back in any case, so that nothing is held without an end. */
const MAX_MINUTES = 10;

/** The limit that a throttled pod gets back now; `now` is wall time. Without a proof of the shortage, it is the whole one. */
export function raiseLimit(entry: ThrottledEntry, result: PassResult, now: Instant): RaisedLimit | undefined {
  const released = whyReleased(entry, result, now);
  if (released !== undefined) return { limit: entry.before, isWhole: true, because: released };
  const [rule, { cpu }] = [throttlingRule(result), result.snapshot];
  if (rule === undefined || cpu === undefined) return undefined;
  const [idle, kept] = [idleMilli(cpu), keptFree(rule, cpu)];
  const room = idle - kept;
  const because = THROTTLING.roomAgain({ idle, kept }, { idle, kept });
  if (room >= wantedBy(entry, result)) return { limit: entry.before, isWhole: true, because };
  const least = Math.max(LEAST_MILLI, entry.to * LEAST_RAISE);
  return room < least ? undefined : { limit: entry.to + room, isWhole: false, because };
}

function whyReleased({ at }: ThrottledEntry, result: PassResult, now: Instant): Because | undefined {
  const { snapshot, policy, decision } = result;
  const rule = throttlingRule(result);
  const isEnforced =
    rule !== undefined && stallMode(rule, policy) === 'Enforce' && mayAct(decision.state.activations, stallKey(rule));
  if (!isEnforced) return THROTTLING.notAsked({});
  if (snapshot.cpu?.idleNow === undefined) return THROTTLING.notMeasured({});
  const isLong = now - at >= MAX_MINUTES * MINUTE_MS || now < at - MINUTE_MS;
  return isLong ? THROTTLING.heldLongest({ minutes: MAX_MINUTES }) : undefined;
}

/** What the pod would take of the idle CPU if its limit were back. */
function wantedBy({ uid, to, used }: ThrottledEntry, { snapshot }: PassResult): number {
  const usedNow = (snapshot.usage.get(uid)?.cpuNanoCores ?? Infinity) / NANO_PER_MILLI;
  return usedNow < to * AT_LIMIT ? 0 : Math.max(0, used - to);
}
