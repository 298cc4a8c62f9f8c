import { ownerText, type Instant } from '#shared/domain/pod/pod.ts';
import { isFresh, lastingEntries, type NodePressure, type NodePressureStatus } from '#shared/api/node-pressure.ts';
import { type AgentPolicy, type Mode, thresholdMode } from '#shared/api/node-pressure-policy/policy.ts';
import { type Selection, selectPolicy, policyInForce } from '#shared/api/node-pressure-policy/select-policy.ts';
import { type ActingSignal, type Observation, resourceOf } from '#shared/domain/pressure/signal.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { compareQuantities, type Quantity, ZERO } from '#shared/domain/quantity/quantity.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import { amountOf, byUrgency, isHard, type Threshold } from '#shared/domain/pressure/threshold.ts';
import { type NamedUsage, usageOnNode } from './pod-usage.ts';
import type { SimulatedCluster } from './placement.ts';
import { evictionOrder, type EvictionOrder } from './agent-answer.ts';

/** The question: a node, a signal, and how much of it is left. */
export interface PressureQuestion {
  readonly node: Node;
  /** `status.capacity.memory` of the node. */
  readonly nodeMemory: Quantity | undefined;
  readonly signal: ActingSignal;
  readonly available: Quantity;
  readonly named: NamedUsage;
  readonly now: Instant;
  /** Replaces the policy's hard or soft thresholds of the signal. */
  readonly threshold?: Threshold | undefined;
}

/** The answer as data. */
export interface PressureAnswer {
  readonly selection: Selection;
  readonly policy: AgentPolicy;
  readonly status: NodePressureStatus | undefined;
  readonly level: LevelLeft;
  readonly thresholds: readonly ThresholdFact[];
  /** The met threshold that pods would be evicted for. */
  readonly met: ThresholdFact | undefined;
  readonly order: EvictionOrder;
}

/** Answers as the agent of the node would decide, by the same functions. */
export function answerPressure(model: SimulatedCluster, question: PressureQuestion): PressureAnswer {
  const { node, signal, available, named, now } = question;
  const pressure = model.pressures.find(({ name }) => name === node.name);
  const selection = selectPolicy(model.policies, node.labels);
  const policy = withThreshold(policyOf(model, question, pressure?.status), question.threshold);
  const level = { signal, available, capacity: capacityOf(question, pressure?.status) };
  const thresholds = thresholdFacts(policy, level);
  const met = decidingThreshold(thresholds);
  const pods = model.pods.filter(({ spec }) => spec.nodeName === node.name);
  const usage = usageOnNode(pods, resourceOf(signal), { status: pressure?.status, named, now });
  const avoided = avoidedOwners(pressure, now);
  const scene = { pods, namespaces: model.namespaces, usage, avoided, now };
  const order = evictionOrder(signal, met && { ...met, observed: observationOf(level) }, scene, policy);
  return { selection, policy, status: pressure?.status, level, thresholds, met, order };
}

/** Without a NodePressurePolicy the mode is a setting of the agent, which its report repeats. */
function policyOf(
  { policies }: SimulatedCluster,
  { node: { labels }, now }: PressureQuestion,
  status: NodePressureStatus | undefined,
): AgentPolicy {
  const configured = isFresh(status, now) && status.mode === 'Enforce' ? 'Enforce' : 'Policy';
  return policyInForce({ arePoliciesRead: true, configured, policies, lastValid: new Map(), labels });
}

/** The policy with a different threshold, in the mode of the one that it replaces. */
function withThreshold(policy: AgentPolicy, threshold: Threshold | undefined): AgentPolicy {
  if (threshold === undefined) return policy;
  const isReplaced = (each: Threshold): boolean =>
    each.signal === threshold.signal && isHard(each) === isHard(threshold);
  const modes = policy.thresholds.filter(isReplaced).flatMap(({ id }) => policy.thresholdModes.get(id) ?? []);
  return {
    ...policy,
    thresholds: [...policy.thresholds.filter((each) => !isReplaced(each)), threshold],
    thresholdModes: new Map([...policy.thresholdModes, ...modes.map((mode) => [threshold.id, mode] as const)]),
  };
}

/** As measured by the agent, else from the Node object, which is the same for the memory of the whole node. */
function capacityOf(
  { signal, nodeMemory }: PressureQuestion,
  status: NodePressureStatus | undefined,
): Quantity | undefined {
  const reported = status?.signals.find(({ name }) => name === signal)?.capacity;
  const parsed = parseQuantity(reported ?? '');
  if (parsed.ok) return parsed.quantity;
  return signal === 'memory.available' ? nodeMemory : undefined;
}

function avoidedOwners(pressure: NodePressure | undefined, now: Instant): ReadonlySet<string> {
  const entries = pressure === undefined ? [] : lastingEntries(pressure, now);
  return new Set(entries.map(({ owner }) => ownerText(owner)));
}

/** How much of a signal is left; `capacity` is `undefined` if no object states it. */
interface LevelLeft {
  readonly signal: ActingSignal;
  readonly available: Quantity;
  readonly capacity: Quantity | undefined;
}

/** A threshold of a policy at that level. */
export interface ThresholdFact {
  readonly threshold: Threshold;
  readonly stage: 'mild' | 'severe';
  readonly mode: Mode;
  /** The least that must be left; `undefined` for a share of an unknown capacity. */
  readonly needed: Quantity | undefined;
  readonly isMet: boolean | undefined;
}

/** The thresholds of a policy for the signal, the most urgent first. */
function thresholdFacts(policy: AgentPolicy, level: LevelLeft): readonly ThresholdFact[] {
  const own = policy.thresholds.filter(({ signal }) => signal === level.signal);
  return byUrgency(own).map((threshold) => thresholdFact(threshold, policy, level));
}

function observationOf({ available, capacity = ZERO }: LevelLeft): Observation {
  return { available, capacity, at: undefined };
}

function thresholdFact(threshold: Threshold, policy: AgentPolicy, level: LevelLeft): ThresholdFact {
  const { available, capacity } = level;
  const isKnown = threshold.value.kind === 'amount' || capacity !== undefined;
  const needed = isKnown ? amountOf(threshold.value, observationOf(level)) : undefined;
  return {
    threshold,
    stage: isHard(threshold) ? 'severe' : 'mild',
    mode: thresholdMode(threshold, policy),
    needed,
    isMet: needed && compareQuantities(needed, available) > 0,
  };
}

/** The met threshold that the answer is about: the most urgent one that evicts pods, else the most urgent one. */
function decidingThreshold(facts: readonly ThresholdFact[]): ThresholdFact | undefined {
  const met = facts.filter(({ isMet }) => isMet === true);
  return met.find(({ mode }) => mode === 'Enforce') ?? met[0];
}
