import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Cause } from './disruption.ts';

/*
 * Limits of disruptions: how many pods may be removed in a period, regardless of what removes them (S3-14), and how
 * many must stay up (S3-15). A DisruptionLimit states them for the pods that it selects, a DisruptionPolicy for owners
 * without one.
 */

/** A number of pods, or a percentage of the pods that are expected. */
export interface Portion {
  readonly value: number;
  readonly isPercent: boolean;
}

/** At most `max` removals within any span of this length. */
export interface RateLimit {
  readonly max: Portion;
  readonly windowMs: number;
}

/** The component that requests a removal: each may have only a share of a limit (S3-19). */
export const COMPONENTS = ['Agent', 'Scheduler', 'KubeScheduler', 'Kubelet', 'Others'] as const;
export type Component = (typeof COMPONENTS)[number];

/** What a limit requires for the pods that it covers. */
export interface LimitRule {
  /** The name that debits use for it: unique in its namespace. */
  readonly key: string;
  readonly limits: readonly RateLimit[];
  readonly minAvailable: Portion | undefined;
  /** In percent of each `max`; a component that is not listed may use all of it. */
  readonly shares: ReadonlyMap<Component, number>;
}

/** The keys of default limits, each followed by the UID of an owner. */
export const DEFAULT_KEY = 'owner/';

export function isDefaultKey(key: string): boolean {
  return key.startsWith(DEFAULT_KEY);
}

/** A rule with the pods that it covers now. */
export interface CoveringRule {
  readonly rule: LimitRule;
  /**
   * How many pods are expected, counted as for a PodDisruptionBudget: pods waiting for a gate or a node are included.
   */
  readonly expected: number;
  /** UIDs of those that are Ready and not terminating. */
  readonly up: ReadonlySet<string>;
}

/** The number of pods; percentages are rounded up, as `pkg/controller/disruption` rounds both of its fields. */
export function podsOf({ value, isPercent }: Portion, expected: number): number {
  return isPercent ? Math.ceil((value * expected) / 100) : value;
}

/** What one component may use of a limit: at least one pod of a limit that allows any. */
export function shareOf(max: number, { shares }: Pick<LimitRule, 'shares'>, component: Component): number {
  const percent = shares.get(component);
  return percent === undefined ? max : Math.ceil((max * percent) / 100);
}

/** How long the API server may take to carry out an eviction that was let through (`DeletionTimeout` of the disruption controller). */
export const GOING_MS = 2 * 60_000;

/** The time before which a removal no longer counts in any window of these rules. */
export function lapsesAt(at: Instant, rules: readonly CoveringRule[]): Instant {
  const windows = rules.flatMap(({ rule }) => rule.limits.map(({ windowMs }) => windowMs));
  return at + Math.max(GOING_MS, ...windows);
}

const BY_CAUSE: Readonly<Partial<Record<Cause, Component>>> = {
  Preemption: 'KubeScheduler',
  Eviction: 'Agent',
  Rescheduling: 'Scheduler',
  Reclaim: 'Scheduler',
  KubeletEviction: 'Kubelet',
  OOMKill: 'Kubelet',
};

/** The component to which an observed removal is attributed. */
export function componentOf(cause: Cause): Component {
  return BY_CAUSE[cause] ?? 'Others';
}
