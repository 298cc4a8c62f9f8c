import { durationSeconds, parseDuration } from '#shared/domain/pressure/parse-duration.ts';
import { parsePercentage } from '#shared/domain/pressure/parse-percentage.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import type { LabelSelector } from '#shared/domain/model/pod.ts';
import {
  POLICY_KEYS,
  type PolicyKeyName,
  type PolicyRanking,
  type RankingPolicy,
} from '#shared/domain/ranking/ranking-order.ts';
import { readSelector } from '#shared/kube/decode-scheduling.ts';
import type { Decoded } from '#shared/kube/decoded.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import {
  decodeObject,
  readBoolean,
  readCount,
  readInteger,
  readList,
  readObject,
  readText,
  readTextMap,
  readTexts,
  refuseField,
  type WireObject,
} from '#shared/kube/wire-object.ts';
import type { Mode } from '#agent/mode.ts';
import {
  type AgentPolicy,
  DEFAULT_LIMITS,
  DEFAULT_POLICY,
  DEFAULT_STALL_RULES,
  type EvictionLimits,
} from './policy.ts';
import {
  CPU_EVIDENCE,
  MEMORY_EVIDENCE,
  type StallEvidenceLimit,
  type StallLimit,
  type StallRule,
} from './stall-rule.ts';

/** A NodePressurePolicy as the agent uses it: which nodes it is for, and what then holds there. */
export interface NodePolicy {
  readonly nodeSelector: LabelSelector | undefined;
  readonly order: number;
  readonly policy: AgentPolicy;
}

const EMPTY: WireObject = {};
const NO_RANKING: RankingPolicy = DEFAULT_POLICY.ranking;

/** Reads the wire form; an unknown field is passed over, a value that means nothing is refused with its field. */
export function decodePolicy(raw: KubeObject): Decoded<NodePolicy> {
  const name = raw.metadata.name ?? '';
  return decodeObject(
    raw,
    (object) => readObject(object, 'spec', (spec) => readSpec(spec, name)) ?? readSpec(EMPTY, name),
  );
}

function readSpec(spec: WireObject, name: string): NodePolicy {
  const mode = readMode(spec);
  return {
    nodeSelector: readSelector(spec, 'nodeSelector'),
    order: readInteger(spec, 'order') ?? 0,
    policy: {
      ...DEFAULT_POLICY,
      name,
      mode,
      thresholds: readThresholds(spec),
      transitionPeriodMs: readDurationMs(spec, 'evictionPressureTransitionPeriod') ?? DEFAULT_POLICY.transitionPeriodMs,
      mostGraceSeconds: readCount(spec, 'evictionMaxPodGracePeriod') ?? DEFAULT_POLICY.mostGraceSeconds,
      stallRules: readStallRules(spec, mode),
      ranking: readRanking(spec),
      limits: readObject(spec, 'limits', readLimits) ?? DEFAULT_LIMITS,
      protect: readObject(spec, 'protect', readProtection) ?? DEFAULT_POLICY.protect,
    },
  };
}

function readMode(object: WireObject): Mode {
  return oneOf(object, 'mode', ['DryRun', 'Enforce']) ?? 'DryRun';
}

function oneOf<T extends string>(object: WireObject, key: string, values: readonly T[]): T | undefined {
  const text = readText(object, key);
  const found = values.find((value) => value === text);
  if (text === undefined || found !== undefined) return found;
  return refuseField(key, `expected ${values.join(' or ')}, got "${text}"`);
}

const KUBELET_TABLES = ['evictionHard', 'evictionSoft', 'evictionSoftGracePeriod', 'evictionMinimumReclaim'] as const;

/** The kubelet's own keys, refused in its own words. None at all means the defaults; an empty table means none. */
function readThresholds(spec: WireObject): AgentPolicy['thresholds'] {
  if (KUBELET_TABLES.every((key) => spec[key] === undefined)) return DEFAULT_POLICY.thresholds;
  const tables = KUBELET_TABLES.map((key) => [key, Object.fromEntries(readTextMap(spec, key))] as const);
  const parsed = parseThresholds(Object.fromEntries(tables));
  return parsed.ok ? parsed.thresholds : refuseField('evictionHard', parsed.mistakes.join('; '));
}

const LONGEST_DURATION_MS = 86_400_000;

function readDurationMs(object: WireObject, key: string): number | undefined {
  const text = readText(object, key);
  if (text === undefined) return undefined;
  const parsed = parseDuration(text);
  if (!parsed.ok) return refuseField(key, parsed.message);
  const ms = durationSeconds(parsed.nanoseconds) * 1000;
  if (ms >= 0 && ms <= LONGEST_DURATION_MS) return ms;
  return refuseField(key, `expected 0s to 24h, got "${text}"`);
}

/** From 0 to 1. */
function readShare(object: WireObject, key: string): number | undefined {
  const text = readText(object, key);
  if (text === undefined) return undefined;
  const parsed = text.endsWith('%') ? parsePercentage(text) : undefined;
  if (parsed?.ok === true && parsed.share >= 0 && parsed.share <= 1) return parsed.share;
  return refuseField(key, `expected a percentage from 0% to 100%, got "${text}"`);
}

const WINDOWS = [
  ['avg10', 10_000],
  ['avg60', 60_000],
  ['avg300', 300_000],
] as const;

/** The two windows that are set, the shorter first. */
function readWindows(rule: WireObject): readonly [StallLimit, StallLimit] {
  const limits = WINDOWS.flatMap(([key, windowMs]) => {
    const ratio = readShare(rule, key);
    return ratio === undefined ? [] : [{ windowMs, ratio }];
  });
  const [short, long] = limits;
  if (short !== undefined && long !== undefined && limits.length === 2) return [short, long];
  return refuseField('avg10', 'expected two of avg10, avg60 and avg300');
}

interface WireStall {
  readonly signal: 'memory.pressure' | 'cpu.pressure' | 'io.pressure';
  readonly share: 'some' | 'full';
  readonly windows: readonly [StallLimit, StallLimit];
  readonly belowShare: number | undefined;
}

function readStall(rule: WireObject): WireStall {
  return {
    signal:
      oneOf(rule, 'signal', ['memory.pressure', 'cpu.pressure', 'io.pressure']) ??
      refuseField('signal', 'expected a signal'),
    share: oneOf(rule, 'stall', ['some', 'full']) ?? 'full',
    windows: readWindows(rule),
    belowShare: readShare(rule, 'whileAvailableBelow'),
  };
}

/** Pressure of io is reported and evicts nobody: nothing tells a busy disk from a short one. */
function readStallRules(spec: WireObject, mode: Mode): readonly StallRule[] {
  const cpu = readObject(spec, 'cpu', readCpu);
  if (spec['pressure'] === undefined) return DEFAULT_STALL_RULES.map((rule) => withCpu(rule, cpu));
  return readList(spec, 'pressure', readStall).flatMap((stall) => {
    if (stall.signal === 'io.pressure') return [];
    const isCpu = stall.signal === 'cpu.pressure';
    const rule: StallRule = {
      signal: stall.signal,
      share: stall.share,
      short: stall.windows[0],
      long: stall.windows[1],
      evidence: isCpu ? evidenceOf(CPU_EVIDENCE, stall) : evidenceOf(MEMORY_EVIDENCE, stall),
      gracePeriodMs: 0,
      mode,
    };
    return [isCpu ? withCpu({ ...rule, mode: 'DryRun' }, cpu) : rule];
  });
}

function evidenceOf(usual: StallEvidenceLimit, { belowShare }: WireStall): StallEvidenceLimit {
  return { ...usual, belowShare: belowShare ?? usual.belowShare };
}

interface CpuSettings {
  readonly mode: Mode;
  readonly belowShare: number | undefined;
  readonly gracePeriodMs: number | undefined;
}

function readCpu(cpu: WireObject): CpuSettings {
  return {
    mode: readMode(cpu),
    belowShare: readShare(cpu, 'available'),
    gracePeriodMs: readDurationMs(cpu, 'gracePeriod'),
  };
}

function withCpu(rule: StallRule, cpu: CpuSettings | undefined): StallRule {
  if (rule.signal !== 'cpu.pressure' || cpu === undefined) return rule;
  return {
    ...rule,
    mode: cpu.mode,
    gracePeriodMs: cpu.gracePeriodMs ?? rule.gracePeriodMs,
    evidence: { ...rule.evidence, belowShare: cpu.belowShare ?? rule.evidence.belowShare },
  };
}

function readRanking(spec: WireObject): RankingPolicy {
  const ranking = readObject(spec, 'ranking', (inner) => ({
    order: readOrder(inner),
    daemonSets: oneOf(inner, 'daemonSets', ['Last', 'Rank']),
  }));
  return {
    ranking: ranking?.order ?? NO_RANKING.ranking,
    daemonSets: ranking?.daemonSets ?? NO_RANKING.daemonSets,
    missingStats: oneOf(spec, 'missingStats', ['Never', 'Last', 'First']) ?? NO_RANKING.missingStats,
  };
}

function readOrder(ranking: WireObject): PolicyRanking | undefined {
  const keys = readTexts(ranking, 'keys');
  const unknown = keys.find((key) => !isPolicyKey(key));
  if (unknown !== undefined)
    return refuseField('keys', `expected ${Object.keys(POLICY_KEYS).join(', ')}, got "${unknown}"`);
  if (keys.length > 0) return { keys: keys.filter(isPolicyKey) };
  return oneOf<'Kubernetes' | 'ShareOfRequest'>(ranking, 'preset', ['Kubernetes', 'ShareOfRequest']);
}

function isPolicyKey(text: string): text is PolicyKeyName {
  return Object.hasOwn(POLICY_KEYS, text);
}

function readLimits(limits: WireObject): EvictionLimits {
  return {
    concurrent: readCount(limits, 'concurrent') ?? DEFAULT_LIMITS.concurrent,
    perMinute: readCount(limits, 'perMinute') ?? DEFAULT_LIMITS.perMinute,
    perTenMinutes: readCount(limits, 'perTenMinutes') ?? DEFAULT_LIMITS.perTenMinutes,
    perNamespacePerTenMinutes:
      readCount(limits, 'perNamespacePerTenMinutes') ?? DEFAULT_LIMITS.perNamespacePerTenMinutes,
  };
}

function readProtection(protect: WireObject): AgentPolicy['protect'] {
  return {
    namespaces: readTexts(protect, 'namespaces'),
    optOutCeiling: readInteger(protect, 'optOutCeiling') ?? DEFAULT_POLICY.protect.optOutCeiling,
    withinRequest: readBoolean(protect, 'withinRequest'),
  };
}
