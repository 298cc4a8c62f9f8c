import { ANNOTATION_CONFIRMED_GENERATION } from '#shared/kube/api-names.ts';
import { readSelector } from '#shared/kube/decode/decode-objects.ts';
import {
  type Decoded,
  decodeObject,
  readInteger,
  readObject,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { LabelSelector } from '#shared/domain/labels/label-selector.ts';
import {
  encodeObject,
  choiceOf,
  type Fields,
  fieldsOf,
  instantOf,
  integerOf,
  keyOf,
  listOf,
  timeText,
} from '#shared/api/fields.ts';
import { encodeBySchema, readBySchema } from '#shared/api/schema/decode-kind.ts';
import { MAX_RECORDS, type ThresholdRecord } from '#shared/domain/pressure/threshold-record.ts';
import type { AgentPolicy } from './policy.ts';
import type { NodeSettings } from '#shared/domain/nodes/node-settings.ts';
import { nodeSettingsOf } from './node-settings-fields.ts';
import { policyOfSpec } from './policy-of-spec.ts';
import { NODE_PRESSURE_POLICY_SPEC, type NodePressurePolicySpec } from './spec.ts';

/** A NodePressurePolicy: its spec as it is written, and what the agent decides by. */
export interface NodePolicy {
  readonly spec: NodePressurePolicySpec;
  readonly policy: AgentPolicy;
  /** What the node controller decides by. */
  readonly nodes: NodeSettings;
}

/** Reads the wire form; an unknown field is ignored, an invalid value is refused with the path of its field. */
export function decodePolicy(raw: KubeObject): Decoded<NodePolicy> {
  const identity = identityOf(raw);
  return decodeSpec(raw, (wire) => {
    const spec = readBySchema(NODE_PRESSURE_POLICY_SPEC, wire);
    return { spec, policy: { ...policyOfSpec(spec), ...identity }, nodes: nodeSettingsOf(spec) };
  });
}

/** Which nodes a policy selects and its order, also for a policy that cannot be read as a whole. */
export interface PolicyScope {
  readonly nodeSelector: LabelSelector | undefined;
  readonly order: number;
}

/** Reads the scope alone. */
export function decodeScope(raw: KubeObject): Decoded<PolicyScope> {
  return decodeSpec(raw, (spec) => ({
    nodeSelector: readSelector(spec, 'nodeSelector'),
    order: readInteger(spec, 'order') ?? 0,
  }));
}

/** Reads the spec with `read`; an object without one has an empty one. */
function decodeSpec<T>(raw: KubeObject, read: (spec: WireObject) => T): Decoded<T> {
  return decodeObject({ ...raw, spec: raw['spec'] ?? {} }, (object) => readObject(object, 'spec', read) as T);
}

type PolicyIdentity = Pick<AgentPolicy, 'name' | 'generation' | 'confirmedGeneration' | 'thresholdRecords'>;

function identityOf(raw: KubeObject): PolicyIdentity {
  const { metadata } = raw;
  const confirmed = metadata.annotations?.[ANNOTATION_CONFIRMED_GENERATION] ?? '';
  return {
    name: metadata.name ?? '',
    generation: metadata.generation ?? 0,
    confirmedGeneration: /^\d{1,15}$/.test(confirmed) ? Number(confirmed) : undefined,
    thresholdRecords: decodeThresholdRecords(raw),
  };
}

/** A NodePressurePolicy as the API server takes it, with the fields that are set. */
export function encodeNodePressurePolicy(name: string, spec: NodePressurePolicySpec): object {
  return encodeObject('NodePressurePolicy', { name }, { spec: encodeBySchema(NODE_PRESSURE_POLICY_SPEC, spec) });
}

const MAX_RULE_LENGTH = 256;
const MAX_NAME_LENGTH = 253;
const MAX_NODES = 16;
const STATES = ['New', 'Held', 'Confirmed'] as const;

/** Reads `status.thresholds` of a NodePressurePolicy. Never throws: an entry that cannot be read is left out. */
function decodeThresholdRecords(raw: KubeObject): readonly ThresholdRecord[] {
  return listOf(fieldsOf(raw['status'])['thresholds'], MAX_RECORDS, decodeRecord);
}

function decodeRecord(entry: Fields): ThresholdRecord | undefined {
  const rule = keyOf(entry['rule'], MAX_RULE_LENGTH);
  const state = choiceOf(entry['state'], STATES);
  const generation = integerOf(entry['generation']);
  const since = instantOf(entry['since']);
  if (rule === undefined || state === undefined || generation === undefined || since === undefined) return undefined;
  const nodes: readonly unknown[] = Array.isArray(entry['nodes']) ? entry['nodes'].slice(0, MAX_NODES) : [];
  return { rule, state, generation, since, nodes: nodes.map((node) => keyOf(node, MAX_NAME_LENGTH)).filter(isText) };
}

function isText(text: string | undefined): text is string {
  return text !== undefined;
}

/** The records as the API server takes them. */
export function encodeThresholdRecords(records: readonly ThresholdRecord[]): readonly object[] {
  return records.map((record) => ({ ...record, since: timeText(record.since) }));
}
