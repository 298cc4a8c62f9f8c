import type { PressureConditionEntry } from '#shared/api/node-pressure.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { FAMILIES, type Family } from '#shared/domain/nodes/plan-node-changes.ts';
import { conditionOf, type PressureCondition, type Signal } from '#shared/domain/pressure/signal.ts';
import { unconfirmedRules } from '#shared/decide/eviction/shortage/rule-activation.ts';
import { stuckEvictions } from '#shared/decide/eviction/eviction-gates.ts';
import { noStatistics } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import type { PassResult } from '#shared/decide/eviction/decide.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';
import { CONDITIONS, DOUBTS } from '#agent/messages.ts';

export type PressureConditions = readonly Omit<PressureConditionEntry, 'lastTransitionTime'>[];

/** Limit for texts with names or values of a pod, which may be long. */
const MAX_MESSAGE_LENGTH = 1024;

const KUBELET_CONDITIONS: Readonly<Record<Family, PressureCondition>> = {
  Memory: 'MemoryPressure',
  Cpu: 'CPUPressure',
  Io: 'IOPressure',
  Disk: 'DiskPressure',
  Pid: 'PIDPressure',
};

/** Whether any signal of a family is measured: otherwise the condition is Unknown, not False. */
function isMeasured(family: Family, { decision, snapshot }: PassResult): boolean {
  const signals: readonly Signal[] = [
    ...decision.state.pressure.observations.keys(),
    ...snapshot.stalls.map(({ signal }) => signal),
  ];
  return signals.some((signal) => conditionOf(signal) === KUBELET_CONDITIONS[family]);
}

function isPressed(family: Family, { decision: { state } }: PassResult): boolean {
  const condition = KUBELET_CONDITIONS[family];
  const isStalled = [...state.stalls.values()].some(({ signal }) => conditionOf(signal) === condition);
  return isStalled || state.pressure.conditions.includes(condition);
}

function familyCondition(family: Family, result: PassResult): PressureConditions[number] {
  if (!isMeasured(family, result)) {
    return {
      type: family,
      status: 'Unknown',
      reason: 'NotMeasured',
      message: CONDITIONS.notMeasured(),
    };
  }
  return isPressed(family, result)
    ? { type: family, status: 'True', ...whyPressed(family, result) }
    : {
        type: family,
        status: 'False',
        reason: 'NoPressure',
        message: CONDITIONS.noPressure(),
      };
}

/** Names the gate that holds evictions back; `NoEligiblePod` before others, because then only the kubelet can act. */
function whyPressed(family: Family, { decision: { assessment } }: PassResult): { reason: string; message: string } {
  const { trigger, closedGates } = assessment;
  const [gate] = [...closedGates.filter(({ code }) => code === 'NoEligiblePod'), ...closedGates];
  if (trigger === undefined || gate === undefined || conditionOf(trigger.signal) !== KUBELET_CONDITIONS[family])
    return { reason: 'Pressure', message: CONDITIONS.pressure() };
  const message = CONDITIONS.heldBack(trigger.because.text, closedGates.map(({ text }) => text).join('; '));
  return { reason: gate.code, message: message.slice(0, MAX_MESSAGE_LENGTH) };
}

/** Contradictions about the node, which stop evictions for memory, and about single pods, which affect only those. */
const CONTRADICTIONS: readonly string[] = ['SourcesDisagree', 'PodsDisagree'];

function sourcesCondition(disagreement: Because | undefined): PressureConditions[number] {
  if (disagreement === undefined) {
    return { type: 'SourcesAgree', status: 'True', reason: 'NoDisagreement', message: CONDITIONS.sourcesAgree() };
  }
  const status = CONTRADICTIONS.includes(disagreement.code) ? 'False' : 'Unknown';
  return { type: 'SourcesAgree', status, reason: disagreement.code, message: disagreement.text };
}

function policiesCondition(
  { snapshot }: PassResult,
  { problem, count }: Doubts['policies'],
): PressureConditions[number] {
  const unknown = snapshot.closedGates.find(({ code }) => code === REASONS.policiesUnknown({}).code);
  if (unknown !== undefined)
    return { type: 'PoliciesRead', status: 'Unknown', reason: unknown.code, message: unknown.text };
  if (problem === undefined) {
    return { type: 'PoliciesRead', status: 'True', reason: 'AllRead', message: CONDITIONS.policiesRead(count) };
  }
  const status = problem.code === DOUBTS.policiesOutdated({ seconds: 0 }).code ? 'Unknown' : 'False';
  return { type: 'PoliciesRead', status, reason: problem.code, message: problem.text };
}

/** A rule that was met when it came into force evicts no pod before it is confirmed. */
function rulesCondition({ decision: { state }, policy }: PassResult): PressureConditions[number] {
  const waiting = unconfirmedRules(state, policy);
  if (waiting !== undefined)
    return { type: 'RulesConfirmed', status: 'False', reason: waiting.code, message: waiting.text };
  const message = CONDITIONS.rulesConfirmed();
  return { type: 'RulesConfirmed', status: 'True', reason: 'NoneWaits', message };
}

/** A pod that cannot be decoded is no candidate, and its usage is unknown. */
function podsCondition({ snapshot }: PassResult): PressureConditions[number] {
  const [first, ...others] = snapshot.pods.unreadable;
  if (first === undefined) {
    return { type: 'PodsRead', status: 'True', reason: 'AllRead', message: CONDITIONS.podsRead() };
  }
  const message = CONDITIONS.podsUnread(first, others.length);
  return { type: 'PodsRead', status: 'False', reason: 'PodUnreadable', message: message.slice(0, MAX_MESSAGE_LENGTH) };
}

/** Whether the kubelet's memory figure and the reclaimable memory agree; informative, no decision depends on it. */
function figuresCondition({ decision: { state } }: PassResult): PressureConditions[number] {
  const { gaps, at } = state.figures;
  const [gap] = gaps.values();
  if (gap !== undefined) return { type: 'FiguresAgree', status: 'False', reason: gap.code, message: gap.text };
  if (at === undefined) {
    const message = CONDITIONS.figuresNotCompared();
    return { type: 'FiguresAgree', status: 'Unknown', reason: 'NotCompared', message };
  }
  const message = CONDITIONS.figuresAgree();
  return { type: 'FiguresAgree', status: 'True', reason: 'NoGap', message };
}

/** Whether pods of the node have statistics; without any no pod can be ranked. */
function statisticsCondition({ snapshot, decision: { state } }: PassResult): PressureConditions[number] {
  const because = noStatistics(state.unmeasuredSince, snapshot);
  if (because !== undefined) {
    return { type: 'PodsMeasured', status: 'False', reason: because.code, message: because.text };
  }
  return { type: 'PodsMeasured', status: 'True', reason: 'Measured', message: CONDITIONS.podsMeasured() };
}

/** Whether evicted pods terminate; if not, the kubelet is down or a container cannot be stopped. */
function carriedOutCondition({ snapshot, decision: { state } }: PassResult): PressureConditions[number] {
  const type = 'EvictionsCarriedOut';
  const stuck = stuckEvictions(state.evictions.Enforce, snapshot);
  if (stuck !== undefined) return { type, status: 'False', reason: 'PodsStuck', message: stuck.text };
  if (!snapshot.isKubeletSilent) {
    return { type, status: 'True', reason: 'NoneStuck', message: CONDITIONS.evictionsCarriedOut() };
  }
  return { type, status: 'Unknown', reason: 'KubeletSilent', message: CONDITIONS.kubeletSilent() };
}

/** The policies of the cluster as last read. */
export interface PoliciesSeen {
  readonly count: number;
  /** A policy that cannot be decoded, or a copy that is too old. */
  readonly problem: Because | undefined;
}

/** Doubts about sources and policies; a disagreement may also mean that nothing can be compared. */
export interface Doubts {
  readonly sources: Because | undefined;
  readonly policies: PoliciesSeen;
}

/** One condition per family of signals, whether the sources agree, whether pods are measured and can be read, and whether evictions are carried out. */
export function pressureConditions(result: PassResult, { sources, policies }: Doubts): PressureConditions {
  return [
    ...FAMILIES.map((family) => familyCondition(family, result)),
    sourcesCondition(sources),
    statisticsCondition(result),
    figuresCondition(result),
    policiesCondition(result, policies),
    podsCondition(result),
    rulesCondition(result),
    carriedOutCondition(result),
  ];
}
