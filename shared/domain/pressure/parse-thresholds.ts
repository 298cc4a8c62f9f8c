import type { KubeletSignal } from './signal.ts';
import { isKubeletSignal } from './signal.ts';
import type { Entry, Parsed } from './parse-setting.ts';
import { parseGracePeriod, parseMinimumReclaim, parseValue } from './parse-setting.ts';
import type { Threshold, ThresholdValue } from './threshold.ts';
import { createThreshold, isHard } from './threshold.ts';

/** The kubelet's own settings, word for word: signal to value in each table. */
export interface EvictionSettings {
  readonly evictionHard?: Readonly<Record<string, string>> | undefined;
  readonly evictionSoft?: Readonly<Record<string, string>> | undefined;
  readonly evictionSoftGracePeriod?: Readonly<Record<string, string>> | undefined;
  readonly evictionMinimumReclaim?: Readonly<Record<string, string>> | undefined;
  readonly enforceNodeAllocatable?: readonly string[] | undefined;
}

export type ParsedThresholds =
  | { readonly ok: true; readonly thresholds: readonly Threshold[] }
  /** In the kubelet's words; it would report the first and stop. */
  | { readonly ok: false; readonly mistakes: readonly string[] };

type Table = Readonly<Record<string, string>> | undefined;
type Values<T> = ReadonlyMap<KubeletSignal, T>;

/** Exactly these switch a threshold off; `0.0%` does not. */
const SWITCHED_OFF: readonly string[] = ['0%', '100%'];

/**
 * Reads eviction settings as the kubelet does (`ParseThresholdConfig` in `pkg/kubelet/eviction/helpers.go`), hard
 * thresholds first. With `pods` among the enforced, hard memory thresholds are repeated for allocatable memory.
 */
export function parseThresholds(settings: EvictionSettings): ParsedThresholds {
  const mistakes: string[] = [];
  const hard = readTable(withoutSwitchedOff(settings.evictionHard), parseValue, mistakes);
  const soft = readTable(withoutSwitchedOff(settings.evictionSoft), parseValue, mistakes);
  const graces = readTable(settings.evictionSoftGracePeriod, parseGracePeriod, mistakes);
  const reclaims = readTable(settings.evictionMinimumReclaim, parseMinimumReclaim, mistakes);
  mistakes.push(...missingGracePeriods(soft, settings.evictionSoftGracePeriod));
  if (mistakes.length > 0) return { ok: false, mistakes };
  const configured = [
    ...Array.from(hard, ([signal, value]) => assemble(signal, value, 0, reclaims)),
    ...Array.from(soft, ([signal, value]) => assemble(signal, value, graces.get(signal) ?? 0, reclaims)),
  ];
  const isEnforcedOnPods = settings.enforceNodeAllocatable?.includes('pods') === true;
  return { ok: true, thresholds: isEnforcedOnPods ? withAllocatableMemory(configured) : configured };
}

function assemble(
  signal: KubeletSignal,
  value: ThresholdValue,
  gracePeriodSeconds: number,
  reclaims: Values<ThresholdValue>,
): Threshold {
  return createThreshold({ signal, value, gracePeriodSeconds, minimumReclaim: reclaims.get(signal) });
}

function withAllocatableMemory(thresholds: readonly Threshold[]): readonly Threshold[] {
  const hardMemory = thresholds.filter((each) => each.signal === 'memory.available' && isHard(each));
  return [
    ...thresholds,
    ...hardMemory.map((each) => createThreshold({ ...each, signal: 'allocatableMemory.available' })),
  ];
}

/** Reads every entry of a table; what is wrong goes to the list of mistakes. */
function readTable<T>(table: Table, parse: (entry: Entry) => Parsed<T>, mistakes: string[]): Values<T> {
  const values = new Map<KubeletSignal, T>();
  const keep = (signal: KubeletSignal, parsed: Parsed<T>) => {
    if (parsed.kind === 'mistake') mistakes.push(parsed.message);
    else values.set(signal, parsed.value);
  };
  for (const [signal, text] of Object.entries(table ?? {})) {
    if (isKubeletSignal(signal)) keep(signal, parse([signal, text]));
    else mistakes.push(`unsupported eviction signal ${signal}`);
  }
  return values;
}

/** Entries of unknown signals stay, to be complained about. */
function withoutSwitchedOff(table: Table): Table {
  const kept = Object.entries(table ?? {}).filter(
    ([signal, text]) => !isKubeletSignal(signal) || !SWITCHED_OFF.includes(text),
  );
  return Object.fromEntries(kept);
}

function missingGracePeriods(soft: Values<ThresholdValue>, graces: Table): readonly string[] {
  return Array.from(soft.keys())
    .filter((signal) => !Object.hasOwn(graces ?? {}, signal))
    .map((signal) => `grace period must be specified for the soft eviction threshold ${signal}`);
}
