import { isKubeletSignal, OWN_SIGNALS, type Signal } from '#shared/domain/pressure/signal.ts';
import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { isRecord, type KubeObject } from '#shared/kube/kube-object.ts';
import { createReflector, type Reflector, type ReflectorOptions } from '#shared/kube/reflector/reflector.ts';
import { NODE_PRESSURES } from '#shared/kube/resource.ts';
import {
  decodeObject,
  readBoolean,
  readInstant,
  readInteger,
  readList,
  readObject,
  readText,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import type { RuleActivation } from '#agent/decide/shortage/rule-activation.ts';
import type { EvictionRecord } from '#agent/decide/pass-result.ts';

/**
 * This node's NodePressure: avoid entries that the scheduler process writes to the spec, and the status that an agent
 * wrote.
 */
export interface NodePressureObject {
  readonly avoid: readonly AvoidEntry[];
  readonly status: PreviousStatus;
}

/** Keeps new pods of an owner off this node until that time (wall time). */
export interface AvoidEntry {
  /** `namespace/Kind/name`. */
  readonly owner: string;
  readonly until: Instant;
}

/** The part of a status that carries over a restart of the agent. */
export interface PreviousStatus {
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly lastTransitionTime: string;
  }[];
  readonly signals: readonly { readonly name: string; readonly state: string; readonly since: string }[];
  readonly evictions: readonly EvictionRecord[];
  /** How thresholds and stall rules came into force; `undefined` if the status has no such entry. */
  readonly rules: readonly PreviousRule[] | undefined;
}

/** A rule that was in force, and whether it was allowed to act. */
export interface PreviousRule extends RuleActivation {
  readonly rule: string;
}

export const NO_PREVIOUS_STATUS: PreviousStatus = { conditions: [], signals: [], evictions: [], rules: undefined };

type Options = Omit<ReflectorOptions<NodePressureObject>, 'resource' | 'fieldSelector' | 'slim'>;

/** A watched copy of one NodePressure object; synced and empty while the object does not exist. */
export function createNodePressureReflector(nodeName: string, options: Options): Reflector<NodePressureObject> {
  return createReflector({
    ...options,
    resource: NODE_PRESSURES,
    fieldSelector: `metadata.name=${nodeName}`,
    slim: decodeNodePressure,
  });
}

/** Throws when the object cannot be read; the previous status is then unknown, as after a first start. */
export function decodeNodePressure(raw: KubeObject): NodePressureObject {
  const decoded = decodeObject(raw, (object) => ({
    avoid: readObject(object, 'spec', (spec) => readList(spec, 'avoid', readAvoid)) ?? [],
    status: readObject(object, 'status', readStatus) ?? NO_PREVIOUS_STATUS,
  }));
  if (decoded.ok) return decoded.value;
  throw new Error(`cannot read NodePressure "${raw.metadata.name ?? ''}": ${decoded.field}: ${decoded.message}`);
}

function readAvoid(entry: WireObject): AvoidEntry {
  return { owner: readText(entry, 'owner') ?? '', until: readInstant(entry, 'until') ?? 0 };
}

function readStatus(status: WireObject): PreviousStatus {
  return {
    conditions: readList(status, 'conditions', (condition) => ({
      type: readText(condition, 'type') ?? '',
      status: readText(condition, 'status') ?? '',
      lastTransitionTime: readText(condition, 'lastTransitionTime') ?? '',
    })),
    signals: readList(status, 'signals', (signal) => ({
      name: readText(signal, 'name') ?? '',
      state: readText(signal, 'state') ?? '',
      since: readText(signal, 'since') ?? '',
    })),
    evictions: readList(status, 'evictions', readEviction),
    rules: status['rules'] === undefined ? undefined : readList(status, 'rules', readRule),
  };
}

function readRule(entry: WireObject): PreviousRule {
  return {
    rule: readText(entry, 'rule') ?? '',
    isConfirmed: readBoolean(entry, 'confirmed'),
    policy: readText(entry, 'policy') ?? '',
    generation: readInteger(entry, 'generation') ?? 0,
  };
}

const DRY_RUN = ' (dry run)';

function readEviction(entry: WireObject): EvictionRecord {
  const [namespace = '', name = ''] = (readText(entry, 'pod') ?? '').split('/');
  const outcome = readText(entry, 'outcome') ?? '';
  return {
    pod: { namespace, name, uid: readText(entry, 'uid') ?? '' },
    owner: readText(entry, 'owner'),
    signal: signalOf(readText(entry, 'signal')),
    stage: readText(entry, 'stage') === 'severe' ? 'severe' : 'mild',
    mode: outcome.endsWith(DRY_RUN) ? 'DryRun' : 'Enforce',
    outcome: outcome.replace(DRY_RUN, '') as EvictionRecord['outcome'],
    requestedAt: readInstant(entry, 'requestedAt') ?? 0,
    endedAt: readInstant(entry, 'endedAt'),
    because: readObject(entry, 'because', readBecause) ?? { code: '', text: '', facts: {} },
  };
}

function signalOf(text = ''): Signal {
  return isKubeletSignal(text) ? text : (OWN_SIGNALS.find((signal) => signal === text) ?? 'memory.available');
}

function readBecause(because: WireObject): Because {
  const facts = because['facts'];
  return {
    code: readText(because, 'code') ?? '',
    text: readText(because, 'text') ?? '',
    facts: isRecord(facts) ? (facts as Because['facts']) : {},
  };
}
