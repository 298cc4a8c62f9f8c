/** How many evictions there may be on a node; 0 means none, never unlimited. */
export interface EvictionLimits {
  /** Outstanding at one moment. */
  readonly concurrent: number;
  readonly perMinute: number;
  readonly perTenMinutes: number;
  readonly perNamespacePerTenMinutes: number;
}

/** `Severe`: a hard threshold is met. `LastChance`: memory will be exhausted before a second eviction could follow. */
export type EvictionUrgency = 'Severe' | 'LastChance';

/** Defaults where no NodePressurePolicy says otherwise. */
export const DEFAULT_LIMITS: EvictionLimits = {
  concurrent: 1,
  perMinute: 2,
  perTenMinutes: 4,
  perNamespacePerTenMinutes: 4,
};

/** The kubelet has no windows and evicts one pod in each of its periods of ten seconds. */
const KUBELET_PER_MINUTE = 6;
const KUBELET_PER_TEN_MINUTES = 60;

/**
 * The limits for an eviction of this urgency. In the last chance, windows allow as many evictions as the kubelet alone
 * would make: they protect workloads from a faulty agent, but an OOM kill protects none. 0 stays 0.
 */
export function limitsFor(urgency: EvictionUrgency | undefined, limits: EvictionLimits): EvictionLimits {
  if (urgency !== 'LastChance') return limits;
  const { perMinute, perTenMinutes, perNamespacePerTenMinutes } = limits;
  return {
    ...limits,
    perMinute: atLeast(KUBELET_PER_MINUTE, perMinute),
    perTenMinutes: atLeast(KUBELET_PER_TEN_MINUTES, perTenMinutes),
    perNamespacePerTenMinutes: atLeast(KUBELET_PER_TEN_MINUTES, perNamespacePerTenMinutes),
  };
}

function atLeast(least: number, limit: number): number {
  return limit === 0 ? 0 : Math.max(least, limit);
}
