import { DEFAULT_LIMITS } from '#shared/domain/eviction/eviction-limits.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import { isEvicting } from '#shared/domain/pressure/signal.ts';
import type { RankingPolicy } from '#shared/domain/ranking/ranking-order.ts';
import { refuseField, parseWireQuantity } from '#shared/kube/decode/wire-object.ts';
import { type ThresholdValue, isHard, type Threshold } from '#shared/domain/pressure/threshold.ts';
import { quantitySign } from '#shared/domain/quantity/quantity.ts';
import {
  type AgentPolicy,
  DEFAULT_POLICY,
  type Mode,
  DEFAULT_STALL_RULES,
  CPU_SHORTAGE,
  MEMORY_SHORTAGE,
  type ShortageLimit,
  type StallLimit,
  type StallRule,
} from './policy.ts';
import { parseDurationMs, parseShare, spareOf } from './node-settings-fields.ts';
import { shareIn } from '#shared/domain/pressure/parse-percentage.ts';
import type { NodePressurePolicySpec, CpuSpec, StallSpec } from './spec.ts';

/** What a spec sets, and the defaults for the rest; values that make no sense are refused with their field. */
export function policyOfSpec(spec: NodePressurePolicySpec): AgentPolicy {
  const thresholds = thresholdsOf(spec);
  const { perOwnerPerHour = DEFAULT_POLICY.perOwnerPerHour, ...limits } = spec.limits ?? {};
  return {
    ...DEFAULT_POLICY,
    mode: spec.mode ?? DEFAULT_POLICY.mode,
    thresholds,
    thresholdModes: thresholdModesOf(spec, thresholds),
    memoryFigure: spec.memoryFigure ?? DEFAULT_POLICY.memoryFigure,
    transitionPeriodMs: transitionPeriodOf(spec) ?? DEFAULT_POLICY.transitionPeriodMs,
    mostGraceSeconds: spec.evictionMaxPodGracePeriod ?? DEFAULT_POLICY.mostGraceSeconds,
    stallRules: stallRulesOf(spec),
    ranking: rankingOf(spec),
    limits: { ...DEFAULT_LIMITS, ...limits },
    perOwnerPerHour,
    minimumRelief: parseShareOrAmount('minimumRelief', spec.minimumRelief),
    protect: { ...DEFAULT_POLICY.protect, ...spec.protect },
    spare: spareOf(spec.spare),
    throttlesCpu: throttlesCpu(spec),
  };
}

/** Eviction stays the last step: the other resources have no other relief. */
function throttlesCpu({ relief = ['Evict'] }: NodePressurePolicySpec): boolean {
  const steps = relief.join(', ');
  if (steps === 'Evict') return false;
  return (
    steps === 'ThrottleCPU, Evict' || refuseField('relief', `expected [Evict] or [ThrottleCPU, Evict], got [${steps}]`)
  );
}

function transitionPeriodOf({ evictionPressureTransitionPeriod: period }: NodePressurePolicySpec) {
  return parseDurationMs('evictionPressureTransitionPeriod', period);
}

const KUBELET_TABLES = ['evictionHard', 'evictionSoft', 'evictionSoftGracePeriod', 'evictionMinimumReclaim'] as const;

/**
 * The kubelet's keys, refused with the kubelet's messages. Without any key the defaults apply; an empty table means no
 * thresholds. Hard memory thresholds are copied to the pods' own limit, as a kubelet that enforces it does, unless the
 * policy sets that signal itself (`0%` switches it off).
 */
function thresholdsOf(spec: NodePressurePolicySpec): AgentPolicy['thresholds'] {
  if (KUBELET_TABLES.every((key) => spec[key] === undefined)) return DEFAULT_POLICY.thresholds;
  const isAllocatableSet = Object.hasOwn(spec.evictionHard ?? {}, 'allocatableMemory.available');
  const parsed = parseThresholds({ ...spec, enforceNodeAllocatable: isAllocatableSet ? [] : ['pods'] });
  return parsed.ok ? parsed.thresholds : refuseField('evictionHard', parsed.mistakes.join('; '));
}

function rankingOf({
  ranking: { preset, keys = [], daemonSets } = { keys: undefined },
  missingStats,
}: NodePressurePolicySpec) {
  const usual = DEFAULT_POLICY.ranking;
  const ranking: RankingPolicy = {
    ranking: keys.length > 0 ? { keys } : (preset ?? usual.ranking),
    daemonSets: daemonSets ?? usual.daemonSets,
    missingStats: missingStats ?? usual.missingStats,
  };
  return ranking;
}

/** A percentage of the capacity or an amount above 0, such as `5%` or `500m`. */
function parseShareOrAmount(field: string, text: string | undefined): ThresholdValue | undefined {
  if (text === undefined) return undefined;
  const share = shareIn(text);
  if (share !== undefined) return { kind: 'share', share };
  const parsed = parseWireQuantity(text);
  if (parsed.ok && quantitySign(parsed.quantity) > 0) return { kind: 'amount', amount: parsed.quantity };
  return refuseField(field, `expected an amount above 0 such as 500m or a percentage from 0% to 100%, got "${text}"`);
}

/** `spec.pressure`, or the default rules, each in its own mode or the policy's; `spec.cpu` overrides the CPU rule. */
function stallRulesOf(spec: NodePressurePolicySpec): readonly StallRule[] {
  const { pressure, cpu, mode = 'DryRun' } = spec;
  const settings = cpu && cpuSettings(cpu);
  const rules = pressure?.map((rule, index) => ruleOf(rule, `pressure[${index}]`, mode)) ?? DEFAULT_STALL_RULES;
  const known = rules.filter((rule) => rule !== undefined).map((rule) => withCpu(rule, settings));
  return throttlesCpu(spec) ? known.map(afterThrottling) : known;
}

/** Idle CPU is measured over a minute, which begins when the last limit has been lowered. */
const THROTTLING_MS = 120_000;

function afterThrottling(rule: StallRule): StallRule {
  if (rule.signal !== 'cpu.pressure') return rule;
  return { ...rule, gracePeriodMs: Math.max(rule.gracePeriodMs, THROTTLING_MS) };
}

/** A rule of a signal that is only reported evicts no pod. */
function ruleOf(rule: StallSpec, field: string, mode: Mode): StallRule | undefined {
  const { signal, stall: share = 'full' } = rule;
  const [short, long] = windowsOf(rule, field);
  const below = parseShare(`${field}.whileAvailableBelow`, rule.whileAvailableBelow);
  if (!isEvicting(signal)) return undefined;
  const isCpu = signal === 'cpu.pressure';
  if (isCpu && rule.mode !== undefined) refuseField(`${field}.mode`, 'set the mode of cpu.pressure in cpu.mode');
  const usual = isCpu ? CPU_SHORTAGE : MEMORY_SHORTAGE;
  const evidence: ShortageLimit = below === undefined ? usual : { ...usual, below: { kind: 'share', share: below } };
  // CPU is compressible: only cpu.mode enables this.
  return { signal, share, short, long, evidence, gracePeriodMs: 0, mode: isCpu ? 'DryRun' : (rule.mode ?? mode) };
}

const WINDOWS = [
  ['avg10', 10_000],
  ['avg60', 60_000],
  ['avg300', 300_000],
] as const;

/** The two windows that are set, shortest first. */
function windowsOf(rule: StallSpec, field: string): readonly [StallLimit, StallLimit] {
  const limits = WINDOWS.flatMap(([key, windowMs]) => {
    const ratio = parseShare(`${field}.${key}`, rule[key]);
    return ratio === undefined ? [] : [{ windowMs, ratio }];
  });
  const [short, long] = limits;
  if (short !== undefined && long !== undefined && limits.length === 2) return [short, long];
  return refuseField(`${field}.avg10`, 'expected two of avg10, avg60 and avg300');
}

/** What `spec.cpu` changes of the CPU rule; its mode is DryRun unless it is set. */
function cpuSettings({ mode = 'DryRun', available, gracePeriod }: CpuSpec) {
  return {
    mode,
    below: parseShareOrAmount('cpu.available', available),
    gracePeriodMs: parseDurationMs('cpu.gracePeriod', gracePeriod),
  };
}

function withCpu(rule: StallRule, cpu: ReturnType<typeof cpuSettings> | undefined): StallRule {
  if (rule.signal !== 'cpu.pressure' || cpu === undefined) return rule;
  return {
    ...rule,
    mode: cpu.mode,
    gracePeriodMs: cpu.gracePeriodMs ?? rule.gracePeriodMs,
    evidence: { ...rule.evidence, below: cpu.below ?? rule.evidence.below },
  };
}

const TABLES = [
  { key: 'evictionHardMode', isFor: isHard },
  { key: 'evictionSoftMode', isFor: (threshold: Threshold) => !isHard(threshold) },
] as const;

/**
 * `evictionHardMode` and `evictionSoftMode`: by signal, the mode of its threshold, as a map by threshold id. The copy
 * of a hard memory threshold for the limit of all pods follows its original. A signal without such a threshold is
 * refused, because a mode without effect would be mistaken for a working one.
 */
function thresholdModesOf(spec: NodePressurePolicySpec, thresholds: readonly Threshold[]): ReadonlyMap<string, Mode> {
  return new Map(TABLES.flatMap(({ key, isFor }) => modesIn(key, spec, thresholds.filter(isFor))));
}

function modesIn(
  key: (typeof TABLES)[number]['key'],
  spec: NodePressurePolicySpec,
  thresholds: readonly Threshold[],
): readonly (readonly [string, Mode])[] {
  const table = new Map(Object.entries(spec[key] ?? {}));
  for (const signal of table.keys())
    if (!thresholds.some((each) => each.signal === signal)) refuseField(key, `no threshold is set for ${signal}`);
  return thresholds.flatMap(({ id, signal }) => {
    const mode = table.get(signal) ?? (signal === COPY ? table.get(ORIGINAL) : undefined);
    return mode === undefined ? [] : [[id, mode] as const];
  });
}

const ORIGINAL = 'memory.available';
const COPY = 'allocatableMemory.available';
