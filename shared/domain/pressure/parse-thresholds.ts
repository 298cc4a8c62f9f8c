import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { type QuantityError, parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { type Quantity, quantitySign } from '#shared/domain/quantity/quantity.ts';
import { type ThresholdSignal, isThresholdSignal } from './signal.ts';
import { type Threshold, type ThresholdValue, createThreshold, isHard } from './threshold.ts';
import { durationSeconds, parseDuration } from './parse-duration.ts';
import { parsePercentage } from './parse-percentage.ts';

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
  /** In the kubelet's words; the kubelet would report the first and stop. */
  | { readonly ok: false; readonly mistakes: readonly string[] };

type Table = Readonly<Record<string, string>> | undefined;
type Values<T> = ReadonlyMap<ThresholdSignal, T>;

/** Exactly these values switch a threshold off; `0.0%` does not. */
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
  signal: ThresholdSignal,
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

/** Reads every entry of a table; invalid entries go to the list of mistakes. */
function readTable<T>(table: Table, parse: (entry: SettingsLine) => Parsed<T>, mistakes: string[]): Values<T> {
  const values = new Map<ThresholdSignal, T>();
  const keep = (signal: ThresholdSignal, parsed: Parsed<T>) => {
    if (parsed.kind === 'mistake') mistakes.push(parsed.message);
    else values.set(signal, parsed.value);
  };
  for (const [signal, text] of Object.entries(table ?? {})) {
    if (isThresholdSignal(signal)) keep(signal, parse([signal, text]));
    else mistakes.push(`unsupported eviction signal ${signal}`);
  }
  return values;
}

/** Entries of unknown signals are kept, so that they are reported. */
function withoutSwitchedOff(table: Table): Table {
  const kept = Object.entries(table ?? {}).filter(
    ([signal, text]) => !isThresholdSignal(signal) || !SWITCHED_OFF.includes(text),
  );
  return Object.fromEntries(kept);
}

function missingGracePeriods(soft: Values<ThresholdValue>, graces: Table): readonly string[] {
  return Array.from(soft.keys())
    .filter((signal) => !Object.hasOwn(graces ?? {}, signal))
    .map((signal) => `grace period must be specified for the soft eviction threshold ${signal}`);
}

/** One line of a settings table. */
export type SettingsLine = readonly [signal: ThresholdSignal, text: string];

/** The value of a line, or its error in the kubelet's words. */
export type Parsed<T> =
  { readonly kind: 'value'; readonly value: T } | { readonly kind: 'mistake'; readonly message: string };

/** Error texts of apimachinery (`pkg/api/resource/quantity.go`). */
const QUANTITY_MESSAGES: Readonly<Record<QuantityError, string>> = {
  format: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  suffix: "unable to parse quantity's suffix",
  numeric: 'unable to parse numeric part of quantity',
};

/** Reads the value of a threshold: a share from 0 to 1, or an amount above 0 (`parseThresholdStatement`). */
function parseValue([signal, text]: SettingsLine): Parsed<ThresholdValue> {
  return text.endsWith('%') ? parseShare([signal, text]) : parseAmount([signal, text]);
}

function parseShare([signal, text]: SettingsLine): Parsed<ThresholdValue> {
  const parsed = parsePercentage(text);
  if (!parsed.ok) return mistake(parsed.message);
  if (parsed.share < 0) return mistake(`eviction percentage threshold ${signal} must be >= 0%: ${text}`);
  if (parsed.share > 1) return mistake(`eviction percentage threshold ${signal} must be <= 100%: ${text}`);
  return share(parsed.share);
}

function parseAmount([signal, text]: SettingsLine): Parsed<ThresholdValue> {
  const parsed = parseQuantity(text);
  if (!parsed.ok) return mistake(QUANTITY_MESSAGES[parsed.error]);
  if (quantitySign(parsed.quantity) > 0) return amount(parsed.quantity);
  return mistake(`eviction threshold ${signal} must be positive: ${formatQuantity(parsed.quantity)}`);
}

/** Reads a minimum reclaim: a share above 0, or an amount of at least 0 (`parseMinimumReclaims`). */
function parseMinimumReclaim([signal, text]: SettingsLine): Parsed<ThresholdValue> {
  return text.endsWith('%') ? parseReclaimShare([signal, text]) : parseReclaimAmount([signal, text]);
}

function parseReclaimShare([signal, text]: SettingsLine): Parsed<ThresholdValue> {
  const parsed = parsePercentage(text);
  if (!parsed.ok) return mistake(parsed.message);
  if (parsed.share <= 0) return mistake(`eviction percentage minimum reclaim ${signal} must be positive: ${text}`);
  return share(parsed.share);
}

function parseReclaimAmount([signal, text]: SettingsLine): Parsed<ThresholdValue> {
  const parsed = parseQuantity(text);
  if (!parsed.ok) return mistake(QUANTITY_MESSAGES[parsed.error]);
  if (quantitySign(parsed.quantity) >= 0) return amount(parsed.quantity);
  return mistake(`negative eviction minimum reclaim specified for ${signal}`);
}

/** Reads a grace period in seconds (`parseGracePeriods`). */
function parseGracePeriod([, text]: SettingsLine): Parsed<number> {
  const parsed = parseDuration(text);
  if (!parsed.ok) return mistake(parsed.message);
  if (parsed.nanoseconds >= 0n) return { kind: 'value', value: durationSeconds(parsed.nanoseconds) };
  return mistake(`invalid eviction grace period specified: ${text}, must be a positive value`);
}

function share(of: number): Parsed<ThresholdValue> {
  return { kind: 'value', value: { kind: 'share', share: of } };
}

function amount(quantity: Quantity): Parsed<ThresholdValue> {
  return { kind: 'value', value: { kind: 'amount', amount: quantity } };
}

function mistake(message: string): Parsed<never> {
  return { kind: 'mistake', message };
}
