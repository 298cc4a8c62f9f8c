import { POLICY_KEYS, type PolicyKeyName } from '#shared/domain/ranking/ranking-order.ts';
import { readSelector } from '#shared/kube/decode/decode-scheduling.ts';
import {
  readBoolean,
  readChoice,
  readCount,
  readInteger,
  readList,
  readObject,
  readText,
  readTextMap,
  readTexts,
  refuseField,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import type { Mode } from './mode.ts';
import type {
  BySignal,
  CpuSpec,
  LimitsSpec,
  NodePressurePolicySpec,
  ProtectSpec,
  RankingSpec,
  StallSpec,
} from './spec.ts';

type Reader<T> = (object: WireObject, key: string) => T | undefined;
/** For each field of a type how it is read. */
type Readers<T> = { readonly [Key in keyof T]-?: Reader<Exclude<T[Key], undefined>> };

const MODES = ['DryRun', 'Enforce'] as const;

const readMode = choice(MODES);
const readTable: Reader<BySignal> = ifSet((object, key) => Object.fromEntries(readTextMap(object, key)));

const STALL: Readers<StallSpec> = {
  signal: (rule, key) =>
    readChoice(rule, key, ['memory.pressure', 'cpu.pressure', 'io.pressure']) ?? refuseField(key, 'expected a signal'),
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
  // PodDisruptionBudgets are respected in both stages (docs/decisions/0007); any other setting is refused.
  budgets: section({ mild: choice(['Respect']), severe: choice(['Respect']) }),
  protect: section(PROTECT),
  avoidFor: readText,
};

/** Reads `spec`; an unknown field is ignored, a value of another type or choice is refused with its field. */
export function readSpec(spec: WireObject): NodePressurePolicySpec {
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
