import type { ThresholdValue } from '#shared/domain/pressure/threshold.ts';
import { readChoice, readList, readObject, refuseField, type WireObject } from '#shared/kube/decode/wire-object.ts';
import type { Mode } from './mode.ts';
import { DEFAULT_STALL_RULES } from './policy.ts';
import { readDurationMs, readShare, readShareOrAmount } from './read-amounts.ts';
import { readMode } from './read-mode.ts';
import { CPU_SHORTAGE, MEMORY_SHORTAGE, type ShortageLimit, type StallLimit, type StallRule } from './stall-rule.ts';

const SIGNALS = ['memory.pressure', 'cpu.pressure', 'io.pressure'] as const;

/** `spec.pressure`, or the default rules, each in its own mode or the policy's; `spec.cpu` overrides the CPU rule. */
export function readStallRules(spec: WireObject, mode: Mode): readonly StallRule[] {
  const cpu = readObject(spec, 'cpu', readCpu);
  if (spec['pressure'] === undefined) return DEFAULT_STALL_RULES.map((rule) => withCpu(rule, cpu));
  return readList(spec, 'pressure', (wire) => readRule(wire, mode)).flatMap((rule) =>
    rule === undefined ? [] : [withCpu(rule, cpu)],
  );
}

/** io.pressure is reported and never evicts: no evidence distinguishes a busy disk from a shortage. */
function readRule(wire: WireObject, mode: Mode): StallRule | undefined {
  const signal = readChoice(wire, 'signal', SIGNALS) ?? refuseField('signal', 'expected a signal');
  const share = readChoice(wire, 'stall', ['some', 'full']) ?? 'full';
  const [short, long] = readWindows(wire);
  const below = readShare(wire, 'whileAvailableBelow');
  const own = readChoice<Mode>(wire, 'mode', ['DryRun', 'Enforce']);
  if (signal === 'io.pressure') return undefined;
  const isCpu = signal === 'cpu.pressure';
  if (isCpu && own !== undefined) refuseField('mode', 'set the mode of cpu.pressure in cpu.mode');
  const usual = isCpu ? CPU_SHORTAGE : MEMORY_SHORTAGE;
  const evidence: ShortageLimit = below === undefined ? usual : { ...usual, below: { kind: 'share', share: below } };
  // CPU is compressible: only cpu.mode enables this.
  return { signal, share, short, long, evidence, gracePeriodMs: 0, mode: isCpu ? 'DryRun' : (own ?? mode) };
}

const WINDOWS = [
  ['avg10', 10_000],
  ['avg60', 60_000],
  ['avg300', 300_000],
] as const;

/** The two windows that are set, shortest first. */
function readWindows(rule: WireObject): readonly [StallLimit, StallLimit] {
  const limits = WINDOWS.flatMap(([key, windowMs]) => {
    const ratio = readShare(rule, key);
    return ratio === undefined ? [] : [{ windowMs, ratio }];
  });
  const [short, long] = limits;
  if (short !== undefined && long !== undefined && limits.length === 2) return [short, long];
  return refuseField('avg10', 'expected two of avg10, avg60 and avg300');
}

interface CpuSettings {
  readonly mode: Mode;
  readonly below: ThresholdValue | undefined;
  readonly gracePeriodMs: number | undefined;
}

function readCpu(cpu: WireObject): CpuSettings {
  return {
    mode: readMode(cpu),
    below: readShareOrAmount(cpu, 'available'),
    gracePeriodMs: readDurationMs(cpu, 'gracePeriod'),
  };
}

function withCpu(rule: StallRule, cpu: CpuSettings | undefined): StallRule {
  if (rule.signal !== 'cpu.pressure' || cpu === undefined) return rule;
  return {
    ...rule,
    mode: cpu.mode,
    gracePeriodMs: cpu.gracePeriodMs ?? rule.gracePeriodMs,
    evidence: { ...rule.evidence, below: cpu.below ?? rule.evidence.below },
  };
}
