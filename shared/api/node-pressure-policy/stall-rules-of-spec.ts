import { refuseField } from '#shared/kube/decode/wire-object.ts';
import type { Mode } from './mode.ts';
import { parseDurationMs, parseShare, parseShareOrAmount } from './parse-amounts.ts';
import { DEFAULT_STALL_RULES } from './policy.ts';
import type { CpuSpec, NodePressurePolicySpec, StallSpec } from './spec.ts';
import { CPU_SHORTAGE, MEMORY_SHORTAGE, type ShortageLimit, type StallLimit, type StallRule } from './stall-rule.ts';

/** `spec.pressure`, or the default rules, each in its own mode or the policy's; `spec.cpu` overrides the CPU rule. */
export function stallRulesOf({ pressure, cpu, mode = 'DryRun' }: NodePressurePolicySpec): readonly StallRule[] {
  const settings = cpu && cpuSettings(cpu);
  const rules = pressure?.map((rule, index) => ruleOf(rule, `pressure[${index}]`, mode)) ?? DEFAULT_STALL_RULES;
  return rules.filter((rule) => rule !== undefined).map((rule) => withCpu(rule, settings));
}

/** io.pressure is reported and never evicts: no evidence distinguishes a busy disk from a shortage. */
function ruleOf(rule: StallSpec, field: string, mode: Mode): StallRule | undefined {
  const { signal, stall: share = 'full' } = rule;
  const [short, long] = windowsOf(rule, field);
  const below = parseShare(`${field}.whileAvailableBelow`, rule.whileAvailableBelow);
  if (signal === 'io.pressure') return undefined;
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
