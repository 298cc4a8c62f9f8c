import { podNamed } from '#shared/domain/base/texts.ts';
import {
  decodeNodePressure,
  type AvoidEntry,
  type EvictionEntry,
  type NodePressureStatus,
  type RuleEntry,
} from '#shared/api/node-pressure.ts';
import { isSignal, type Signal } from '#shared/domain/pressure/signal.ts';
import { createReflector, type Reflector, type ReflectorOptions } from '#shared/kube/reflector/reflector.ts';
import { NODE_PRESSURES } from '#shared/kube/resource.ts';
import type { RuleActivation } from '#shared/decide/eviction/shortage/rule-activation.ts';
import type { EvictionRecord } from '#shared/decide/eviction/decide.ts';

/**
 * This node's NodePressure: avoid entries that the scheduler process writes to the spec, and the status that an agent
 * wrote.
 */
export interface NodePressureObject {
  readonly avoid: readonly AvoidEntry[];
  readonly status: PreviousStatus;
}

/** The part of a status that carries over a restart of the agent. */
export interface PreviousStatus {
  readonly conditions: NodePressureStatus['conditions'];
  readonly signals: NodePressureStatus['signals'];
  readonly evictions: readonly EvictionRecord[];
  /** How thresholds and stall rules came into force; `undefined` if the status has no such entry. */
  readonly rules: readonly PreviousRule[] | undefined;
  readonly spare?: NodePressureStatus['spare'];
  readonly throttled?: NodePressureStatus['throttled'];
  readonly observedAt?: NodePressureStatus['observedAt'];
}

/** A rule that was in force, and whether it was allowed to act. */
export interface PreviousRule extends RuleActivation {
  readonly rule: string;
}

export const NO_PREVIOUS_STATUS: PreviousStatus = { conditions: [], signals: [], evictions: [], rules: undefined };

type NodePressureReflectorOptions = Omit<ReflectorOptions<NodePressureObject>, 'resource' | 'fieldSelector' | 'slim'>;

/** A watched copy of one NodePressure object; synced and empty while the object does not exist. */
export function createNodePressureReflector(
  nodeName: string,
  options: NodePressureReflectorOptions,
): Reflector<NodePressureObject> {
  return createReflector({
    ...options,
    resource: NODE_PRESSURES,
    startsFromCache: true,
    fieldSelector: `metadata.name=${nodeName}`,
    slim: readNodePressure,
  });
}

/** Never throws: an entry that cannot be decoded is left out, and the rest carries over. */
export function readNodePressure(raw: unknown): NodePressureObject {
  const { avoid, status } = decodeNodePressure(raw);
  return { avoid, status: status === undefined ? NO_PREVIOUS_STATUS : previousStatus(status) };
}

function previousStatus({ evictions, rules, ...status }: NodePressureStatus): PreviousStatus {
  const { conditions, signals, spare, throttled, observedAt } = status;
  return {
    conditions,
    signals,
    evictions: evictions.map(evictionRecord),
    rules: rules?.map(previousRule),
    spare,
    throttled,
    observedAt,
  };
}

function previousRule({ rule, confirmed, policy = '', generation = 0, mode, heldBy }: RuleEntry): PreviousRule {
  return { rule, isConfirmed: confirmed, policy, generation, mode, heldBy };
}

function evictionRecord({ pod, uid, ...entry }: EvictionEntry): EvictionRecord {
  return {
    pod: { ...podNamed(pod), uid },
    owner: entry.owner,
    signal: signalOf(entry.signal),
    stage: entry.stage === 'severe' ? 'severe' : 'mild',
    mode: entry.mode,
    outcome: entry.outcome as EvictionRecord['outcome'],
    requestedAt: entry.requestedAt ?? 0,
    startedAt: entry.startedAt,
    endedAt: entry.endedAt,
    because: entry.because,
  };
}

function signalOf(text: string): Signal {
  return isSignal(text) ? text : 'memory.available';
}
