import { DEFAULT_LIMITS, type EvictionLimits } from '#shared/domain/eviction/eviction-limits.ts';
import { DEFAULT_OPT_OUT_CEILING } from '#shared/domain/eviction/node-protection.ts';
import type { DiskLayout } from '#shared/domain/pressure/disk-layout.ts';
import type { MemoryFigure } from '#shared/domain/pressure/memory-figure.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import type { Threshold } from '#shared/domain/pressure/threshold.ts';
import type { RankingPolicy } from '#shared/domain/ranking/ranking-order.ts';
import type { Mode } from './mode.ts';
import { CPU_SHORTAGE, MEMORY_SHORTAGE, type StallRule } from './stall-rule.ts';

/** Everything that the agent's decisions depend on and an operator may set; made from a NodePressurePolicy. */
export interface AgentPolicy {
  /** Name of the object, or `default`. */
  readonly name: string;
  /** Of the object; 0 where there is none. */
  readonly generation: number;
  /** The generation that an operator has confirmed by an annotation. */
  readonly confirmedGeneration: number | undefined;
  readonly mode: Mode;
  readonly thresholds: readonly Threshold[];
  /** What memory thresholds are held against. */
  readonly memoryFigure: MemoryFigure;
  /** By threshold id: those with a mode of their own, which only counts where it is stricter. */
  readonly thresholdModes: ReadonlyMap<string, Mode>;
  readonly transitionPeriodMs: number;
  /** The longest grace that a soft eviction leaves a pod, in seconds. */
  readonly mostGraceSeconds: number;
  readonly stallRules: readonly StallRule[];
  readonly ranking: RankingPolicy;
  readonly limits: EvictionLimits;
  /** How many pods of one owner this node evicts in an hour: its replacement may come back and take the same again. */
  readonly perOwnerPerHour: number;
  readonly protect: {
    /** Beside kube-system and our own. */
    readonly namespaces: readonly string[];
    /** Up to this priority a pod's wish to stay is honoured. */
    readonly optOutCeiling: number;
    /** Pods that keep to their request go in the severe stage only (D-2). */
    readonly withinRequest: boolean;
  };
  readonly layout: DiskLayout;
}

/**
 * Settings in force without any NodePressurePolicy: report only, kubelet semantics, earlier thresholds. Hard memory
 * thresholds hold for the pods' own limit too: with reservations the kernel kills there while the node has memory left.
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
    // CPU is compressible: only an operator may switch this on (law 6).
    mode: 'DryRun',
  },
];

function defaultThresholds(): readonly Threshold[] {
  const parsed = parseThresholds(DEFAULT_EVICTION_SETTINGS);
  return parsed.ok ? parsed.thresholds : [];
}

/** What holds when no NodePressurePolicy selects this node (design.md section 6). */
export const DEFAULT_POLICY: AgentPolicy = {
  name: 'default',
  generation: 0,
  confirmedGeneration: undefined,
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
  protect: { namespaces: [], optOutCeiling: DEFAULT_OPT_OUT_CEILING, withinRequest: false },
  layout: 'single',
};
