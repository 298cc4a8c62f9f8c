import { DEFAULT_LIMITS, type EvictionLimits } from '#shared/domain/eviction/eviction-limits.ts';
import { DEFAULT_OPT_OUT, DEFAULT_OPT_OUT_CEILING, type OptOut } from '#shared/domain/eviction/protection.ts';
import {
  type DiskLayout,
  type EvictingSignal,
  isEvicting,
  PSI_SIGNALS,
  type PsiSignal,
} from '#shared/domain/pressure/signal.ts';
import type { ThresholdRecord } from '#shared/domain/pressure/threshold-record.ts';
import type { MemoryFigure } from '#shared/domain/pressure/memory-figure.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import type { Threshold, ThresholdValue } from '#shared/domain/pressure/threshold.ts';
import { NO_SPARE, type SpareSettings } from '#shared/domain/spare/spare-settings.ts';
import type { RankingPolicy } from '#shared/domain/ranking/ranking-order.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';

/** A signal that stall rules evict pods for. */
export type StallSignal = PsiSignal & EvictingSignal;

/** All of them. */
export const STALL_SIGNALS: readonly StallSignal[] = PSI_SIGNALS.filter((signal) => isEvicting(signal));

/** How long tasks must stall before the agent evicts a pod. */
export interface StallRule {
  readonly signal: StallSignal;
  readonly share: 'some' | 'full';
  /** The short window shows that tasks still stall, the long one that this is no brief peak. */
  readonly short: StallLimit;
  readonly long: StallLimit;
  /** The resource that must be short as well: stalls alone prove no shortage. */
  readonly evidence: ShortageLimit;
  /** How long all of this must last, in addition to the windows. */
  readonly gracePeriodMs: number;
  readonly mode: Mode;
}

/** Less than `below` of the signal must be left, as an amount (bytes, cores) or a share of its capacity. */
export interface ShortageLimit {
  readonly signal: 'memory.available' | 'cpu.available';
  readonly below: ThresholdValue;
}

export const MEMORY_SHORTAGE: ShortageLimit = { signal: 'memory.available', below: { kind: 'share', share: 0.1 } };
export const CPU_SHORTAGE: ShortageLimit = { signal: 'cpu.available', below: { kind: 'share', share: 0.05 } };

export interface StallLimit {
  readonly windowMs: number;
  /** From 0 to 1. */
  readonly ratio: number;
}

/** The window, in milliseconds, that shows whether tasks stall right now. */
export const STILL_WINDOW_MS = 500;

/** Measured share of time in which some or all tasks stalled; absent while a window is not full. */
export interface StallRatio {
  readonly signal: PsiSignal;
  readonly share: 'some' | 'full';
  readonly windowMs: number;
  readonly ratio: number;
}

/** Identifies a stall rule by all its conditions, so that two rules for one signal stay distinct. */
export function stallKey({ signal, share, short, long, evidence }: StallRule): string {
  const windows = [short, long].map(({ windowMs, ratio }) => `${ratio} of ${windowMs / 1000} s`).join(' and ');
  const { below } = evidence;
  const least = below.kind === 'share' ? below.share : formatQuantity(below.amount);
  return `${signal} ${share} ${windows} while ${evidence.signal} < ${least}`;
}

/** Everything that an operator can set for the agent's decisions; decoded from a NodePressurePolicy. */
export interface AgentPolicy {
  /** Name of the object, or `default`. */
  readonly name: string;
  /** Of the object; 0 if there is none. */
  readonly generation: number;
  /** The generation that an operator has confirmed by an annotation. */
  readonly confirmedGeneration: number | undefined;
  /** What all nodes of the policy say about its thresholds, as its status records it. */
  readonly thresholdRecords: readonly ThresholdRecord[];
  readonly mode: Mode;
  readonly thresholds: readonly Threshold[];
  /** The memory figure that thresholds are compared with. */
  readonly memoryFigure: MemoryFigure;
  /** By threshold id: modes of single thresholds; a mode applies only if it is stricter than the policy's. */
  readonly thresholdModes: ReadonlyMap<string, Mode>;
  readonly transitionPeriodMs: number;
  /** The longest grace period of a soft eviction, in seconds. */
  readonly mostGraceSeconds: number;
  readonly stallRules: readonly StallRule[];
  readonly ranking: RankingPolicy;
  readonly limits: EvictionLimits;
  /** Pods of one owner that this node evicts per hour: a replacement may return and use as much again. */
  readonly perOwnerPerHour: number;
  /**
   * In the severe stage a pod that frees less is skipped while a larger one exceeds its request: a share of what must be
   * freed, or an amount. `undefined`: 5 % of it or 64Mi, whichever is more.
   */
  readonly minimumRelief: ThresholdValue | undefined;
  readonly protect: {
    /** In addition to kube-system and Plimsoll's own namespaces. */
    readonly namespaces: readonly string[];
    /** Up to this priority a pod can opt out of eviction. */
    readonly optOutCeiling: number;
    /** Whether the opt-out of a pod above its request counts in the severe stage. */
    readonly optOut: OptOut;
    /** Pods within their request are evicted in the severe stage only (D-2). */
    readonly withinRequest: boolean;
  };
  readonly layout: DiskLayout;
  readonly spare: SpareSettings;
  /** Whether CPU limits are lowered before a pod is evicted for CPU. */
  readonly throttlesCpu: boolean;
}

/**
 * Settings without any NodePressurePolicy: dry run, kubelet semantics, higher thresholds than the kubelet's. Hard
 * memory thresholds also apply to the limit of all pods: with reservations the kernel kills there while the node has
 * memory left.
 */
export const DEFAULT_EVICTION_SETTINGS = {
  enforceNodeAllocatable: ['pods'],
  evictionHard: { 'memory.available': '250Mi' },
  evictionSoft: { 'memory.available': '5%' },
  evictionSoftGracePeriod: { 'memory.available': '30s' },
} as const;

export const DEFAULT_STALL_RULES: readonly StallRule[] = [
  {
    signal: 'memory.pressure',
    share: 'full',
    short: { windowMs: 10_000, ratio: 0.2 },
    long: { windowMs: 60_000, ratio: 0.1 },
    evidence: MEMORY_SHORTAGE,
    gracePeriodMs: 0,
    mode: 'Enforce',
  },
  {
    signal: 'cpu.pressure',
    share: 'some',
    short: { windowMs: 10_000, ratio: 0.5 },
    long: { windowMs: 300_000, ratio: 0.4 },
    evidence: CPU_SHORTAGE,
    gracePeriodMs: 300_000,
    // CPU is compressible: only an operator may enable this.
    mode: 'DryRun',
  },
];

function defaultThresholds(): readonly Threshold[] {
  const parsed = parseThresholds(DEFAULT_EVICTION_SETTINGS);
  return parsed.ok ? parsed.thresholds : [];
}

/** The policy of a node that no NodePressurePolicy selects. */
export const DEFAULT_POLICY: AgentPolicy = {
  name: 'default',
  generation: 0,
  confirmedGeneration: undefined,
  thresholdRecords: [],
  mode: 'DryRun',
  thresholds: defaultThresholds(),
  memoryFigure: 'Reclaimable',
  thresholdModes: new Map(),
  transitionPeriodMs: 300_000,
  mostGraceSeconds: 30,
  stallRules: DEFAULT_STALL_RULES,
  ranking: { ranking: 'Kubernetes', missingStats: 'Never', daemonSets: 'Last' },
  limits: DEFAULT_LIMITS,
  perOwnerPerHour: 3,
  minimumRelief: undefined,
  protect: {
    namespaces: [],
    optOutCeiling: DEFAULT_OPT_OUT_CEILING,
    optOut: DEFAULT_OPT_OUT,
    withinRequest: false,
  },
  layout: 'single',
  spare: NO_SPARE,
  throttlesCpu: false,
};

/** Whether decisions are enforced or only reported. */
export type Mode = 'DryRun' | 'Enforce';

function stricter(left: Mode, right: Mode): Mode {
  return left === 'Enforce' && right === 'Enforce' ? 'Enforce' : 'DryRun';
}

/** The mode of a threshold: the policy's, unless it has a stricter one of its own. */
export function thresholdMode({ id }: Threshold, { mode, thresholdModes }: AgentPolicy): Mode {
  return stricter(mode, thresholdModes.get(id) ?? 'Enforce');
}

/** The mode of a stall rule: both the policy and the rule must enforce. */
export function stallMode(rule: StallRule, { mode }: AgentPolicy): Mode {
  return stricter(mode, rule.mode);
}

/** The cause of an eviction: a threshold by its id, or a stall rule by its key. */
interface EvictionCause {
  readonly threshold: Pick<Threshold, 'id'>;
}

/** The mode in which a policy acts on the cause of an eviction; `DryRun` if the policy no longer has that rule. */
export function modeOf({ threshold }: EvictionCause, policy: AgentPolicy): Mode {
  const rule = policy.stallRules.find((each) => stallKey(each) === threshold.id);
  if (rule !== undefined) return stallMode(rule, policy);
  const found = policy.thresholds.find(({ id }) => id === threshold.id);
  return found === undefined ? 'DryRun' : thresholdMode(found, policy);
}
