import { ANNOTATION_CONFIRMED_GENERATION } from '#shared/kube/api-names.ts';
import { readSelector } from '#shared/kube/decode/decode-objects.ts';
import {
  type Decoded,
  decodeObject,
  readInteger,
  readObject,
  readText,
  refuseField,
  type WireObject,
  readBoolean,
  readChoice,
  readCount,
  readList,
  readTextMap,
  readTexts,
} from '#shared/kube/decode/wire-object.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { durationSeconds, parseDuration } from '#shared/domain/pressure/parse-duration.ts';
import { PSI_SIGNALS } from '#shared/domain/pressure/signal.ts';
import type { LabelSelector } from '#shared/domain/labels/label-selector.ts';
import { quote } from '#shared/domain/base/texts.ts';
import {
  encodeObject,
  encodeSelector,
  present,
  choiceOf,
  type Fields,
  fieldsOf,
  instantOf,
  integerOf,
  keyOf,
  listOf,
  timeText,
} from '#shared/api/fields.ts';
import { POLICY_KEYS, type PolicyKeyName } from '#shared/domain/ranking/ranking-order.ts';
import { MAX_RECORDS, type ThresholdRecord } from '#shared/domain/pressure/threshold-record.ts';
import type { AgentPolicy, Mode } from './policy.ts';
import { policyOfSpec } from './policy-of-spec.ts';
import type {
  NodePressurePolicySpec,
  BySignal,
  CpuSpec,
  LimitsSpec,
  ProtectSpec,
  RankingSpec,
  StallSpec,
} from './spec.ts';

/** A NodePressurePolicy: its spec as it is written, and what the agent decides by. */
export interface NodePolicy {
  readonly spec: NodePressurePolicySpec;
  readonly policy: AgentPolicy;
}

/** Reads the wire form; an unknown field is ignored, an invalid value is refused with the path of its field. */
export function decodePolicy(raw: KubeObject): Decoded<NodePolicy> {
  const identity = identityOf(raw);
  return decodeSpec(raw, (wire) => {
    const spec = readSpec(wire);
    return { spec, policy: { ...policyOfSpec(spec), ...identity } };
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

/** Reads `spec.avoidFor` alone, in milliseconds; `undefined` if it is not set. */
export function decodeAvoidFor(raw: KubeObject): Decoded<number | undefined> {
  return decodeSpec(raw, (spec) => {
    const text = readText(spec, 'avoidFor');
    if (text === undefined) return undefined;
    const parsed = parseDuration(text);
    if (!parsed.ok) return refuseField('avoidFor', parsed.message);
    if (parsed.nanoseconds < 0n) return refuseField('avoidFor', `it is negative: ${quote(text)}`);
    return durationSeconds(parsed.nanoseconds) * 1000;
  });
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
export function encodeNodePressurePolicy(name: string, { nodeSelector, ...spec }: NodePressurePolicySpec): object {
  const selector = nodeSelector && encodeSelector(nodeSelector);
  return encodeObject('NodePressurePolicy', { name }, { spec: present({ nodeSelector: selector, ...spec }) });
}

type Reader<T> = (object: WireObject, key: string) => T | undefined;
/** For each field of a type how it is read. */
type Readers<T> = { readonly [Key in keyof T]-?: Reader<Exclude<T[Key], undefined>> };

const MODES = ['DryRun', 'Enforce'] as const;

const readMode = choice(MODES);
const readTable: Reader<BySignal> = ifSet((object, key) => Object.fromEntries(readTextMap(object, key)));

const STALL: Readers<StallSpec> = {
  signal: (rule, key) => readChoice(rule, key, PSI_SIGNALS) ?? refuseField(key, 'expected a signal'),
  stall: choice(['some', 'full']),
  avg10: readText,
  avg60: readText,
  avg300: readText,
  mode: readMode,
  whileAvailableBelow: readText,
};
const CPU: Readers<CpuSpec> = { mode: readMode, available: readText, gracePeriod: readText };
const RANKING: Readers<RankingSpec> = {
  preset: choice(['Kubernetes', 'ShareOfRequest']),
  keys: ifSet(readRankingKeys),
  daemonSets: choice(['Last', 'Rank']),
};
const LIMITS: Readers<LimitsSpec> = {
  concurrent: readCount,
  perMinute: readCount,
  perTenMinutes: readCount,
  perNamespacePerTenMinutes: readCount,
  perOwnerPerHour: readCount,
};
const PROTECT: Readers<ProtectSpec> = {
  namespaces: ifSet(readTexts),
  optOutCeiling: readInteger,
  optOut: choice(['WithinRequest', 'Always']),
  withinRequest: ifSet(readBoolean),
};
const SPEC: Readers<NodePressurePolicySpec> = {
  nodeSelector: readSelector,
  order: readInteger,
  mode: readMode,
  memoryFigure: choice(['Reclaimable', 'Kubelet']),
  evictionHard: readTable,
  evictionSoft: readTable,
  evictionSoftGracePeriod: readTable,
  evictionMinimumReclaim: readTable,
  evictionHardMode: readModes,
  evictionSoftMode: readModes,
  evictionPressureTransitionPeriod: readText,
  evictionMaxPodGracePeriod: readCount,
  pressure: ifSet((spec, key) => readList(spec, key, (rule) => readFields(rule, STALL))),
  cpu: section(CPU),
  ranking: section(RANKING),
  missingStats: choice(['Never', 'Last', 'First']),
  limits: section(LIMITS),
  minimumRelief: readText,
  // PodDisruptionBudgets are respected in both stages (docs/contributing/decisions/severe-stage.md); any other setting is refused.
  budgets: section({ mild: choice(['Respect']), severe: choice(['Respect']) }),
  protect: section(PROTECT),
  avoidFor: readText,
};

/** Reads `spec`; an unknown field is ignored, a value of another type or choice is refused with its field. */
function readSpec(spec: WireObject): NodePressurePolicySpec {
  return readFields(spec, SPEC);
}

/** The fields that are set. */
function readFields<T>(object: WireObject, readers: Readers<T>): T {
  const fields = Object.entries<Reader<unknown>>(readers).map(([key, read]) => [key, read(object, key)] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as T;
}

function section<T>(readers: Readers<T>): Reader<T> {
  return (object, key) => readObject(object, key, (inner) => readFields(inner, readers));
}

function choice<const T extends string>(choices: readonly T[]): Reader<T> {
  return (object, key) => readChoice(object, key, choices);
}

/** For readers to which absent is the same as empty or false. */
function ifSet<T>(read: (object: WireObject, key: string) => T): Reader<T> {
  return (object, key) => ((object[key] ?? undefined) === undefined ? undefined : read(object, key));
}

function readModes(spec: WireObject, key: string): BySignal<Mode> | undefined {
  const table = readTable(spec, key);
  const unknown = Object.values(table ?? {}).find((text) => !MODES.some((mode) => mode === text));
  if (unknown !== undefined) return refuseField(key, `expected DryRun or Enforce, got "${unknown}"`);
  return table as BySignal<Mode> | undefined;
}

function readRankingKeys(ranking: WireObject, key: string): readonly PolicyKeyName[] {
  const names = readTexts(ranking, key);
  const unknown = names.find((name) => !Object.hasOwn(POLICY_KEYS, name));
  if (unknown !== undefined)
    return refuseField(key, `expected ${Object.keys(POLICY_KEYS).join(', ')}, got "${unknown}"`);
  return names as readonly PolicyKeyName[];
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
