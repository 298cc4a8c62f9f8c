import type { LabelSelector } from '#shared/domain/labels/label-selector.ts';
import type { OptOut } from '#shared/domain/eviction/protection.ts';
import type { PsiSignal } from '#shared/domain/pressure/signal.ts';
import type { MemoryFigure } from '#shared/domain/pressure/memory-figure.ts';
import type { PolicyKeyName, RankingPolicy } from '#shared/domain/ranking/ranking-order.ts';
import type { Mode } from './policy.ts';

/**
 * `spec` of a NodePressurePolicy (deploy/crds/plimsoll.dev_nodepressurepolicies.yaml), every field as it is written:
 * durations such as `30s`, percentages such as `5%`, quantities such as `250Mi`. Absent differs from empty.
 */
export interface NodePressurePolicySpec {
  readonly nodeSelector?: LabelSelector;
  readonly order?: number;
  readonly mode?: Mode;
  readonly memoryFigure?: MemoryFigure;
  readonly evictionHard?: BySignal;
  readonly evictionSoft?: BySignal;
  readonly evictionSoftGracePeriod?: BySignal;
  readonly evictionMinimumReclaim?: BySignal;
  readonly evictionHardMode?: BySignal<Mode>;
  readonly evictionSoftMode?: BySignal<Mode>;
  readonly evictionPressureTransitionPeriod?: string;
  /** Seconds. */
  readonly evictionMaxPodGracePeriod?: number;
  readonly pressure?: readonly StallSpec[];
  readonly cpu?: CpuSpec;
  readonly ranking?: RankingSpec;
  readonly missingStats?: RankingPolicy['missingStats'];
  readonly limits?: LimitsSpec;
  readonly minimumRelief?: string;
  readonly budgets?: { readonly mild?: 'Respect'; readonly severe?: 'Respect' };
  readonly protect?: ProtectSpec;
  readonly avoidFor?: string;
}

/** A table by signal, such as `memory.available`. */
export type BySignal<T extends string = string> = Readonly<Record<string, T>>;

/** An entry of `spec.pressure`; the windows are percentages. */
export interface StallSpec {
  readonly signal: PsiSignal;
  readonly stall?: 'some' | 'full';
  readonly avg10?: string;
  readonly avg60?: string;
  readonly avg300?: string;
  readonly mode?: Mode;
  readonly whileAvailableBelow?: string;
}

/** `spec.cpu`. */
export interface CpuSpec {
  readonly mode?: Mode;
  readonly available?: string;
  readonly gracePeriod?: string;
}

/** `spec.ranking`. */
export interface RankingSpec {
  readonly preset?: 'Kubernetes' | 'ShareOfRequest';
  readonly keys?: readonly PolicyKeyName[];
  readonly daemonSets?: RankingPolicy['daemonSets'];
}

/** `spec.limits`. */
export interface LimitsSpec {
  readonly concurrent?: number;
  readonly perMinute?: number;
  readonly perTenMinutes?: number;
  readonly perNamespacePerTenMinutes?: number;
  readonly perOwnerPerHour?: number;
}

/** `spec.protect`. */
export interface ProtectSpec {
  readonly namespaces?: readonly string[];
  readonly optOutCeiling?: number;
  readonly optOut?: OptOut;
  readonly withinRequest?: boolean;
}
