import type { LabelSelector } from '#shared/domain/labels/label-selector.ts';

/*
 * The settings of a ReschedulingPolicy. A pass of the rescheduler moves running pods to nodes that kube-scheduler would
 * choose anyway, if that improves the cluster by more than a threshold. It guarantees nothing.
 */

/** The policies, in the order in which a pass runs them. */
export const POLICY_KINDS = ['affinity', 'badService', 'underused'] as const;
export type PolicyKind = (typeof POLICY_KINDS)[number];

export const AGGRESSIVENESS = ['Low', 'Medium', 'High'] as const;
export type Aggressiveness = (typeof AGGRESSIVENESS)[number];

export const MODES = ['DryRun', 'Enforce'] as const;
export type ReschedulingMode = (typeof MODES)[number];

/** Percentages of allocatable by resource. */
export type Percentages = ReadonlyMap<string, number>;

/** Pods move from nodes above `target` to nodes below `low`. */
export interface UnderusedPolicy {
  readonly by: 'Requests' | 'Usage';
  readonly low: Percentages;
  readonly target: Percentages;
  /** The minimum gain of a move in points; by default the aggressiveness decides. */
  readonly gain: number | undefined;
}

/** Pods move off nodes on which their rules are broken, or are met less well than elsewhere. */
export interface AffinityPolicy {
  /** Required node affinity, node selectors, required anti-affinity. */
  readonly required: boolean;
  /** Preferred node affinity. */
  readonly preferred: boolean;
  /** Topology spread constraints with `DoNotSchedule`. */
  readonly spread: boolean;
}

/**
 * Pods move off nodes on which they fail. A pod that reaches any of the limits counts as failing; at least one is set.
 */
export interface BadServicePolicy {
  /** Restarts of a pod's containers, for any reason. */
  readonly restarts?: number | undefined;
  /** How often it was killed for using too much memory. */
  readonly oomKills?: number | undefined;
  /** Number of pods of an owner that the kubelet of a node refused within an hour. */
  readonly refused?: number | undefined;
  /** Percentage of the time that some of its tasks wait for one resource. */
  readonly stalls?: number | undefined;
  /** Which pod moves: the one that fails, or the one that uses more than it requests (S3-5). */
  readonly move: 'Victim' | 'Aggressor';
}

/** A weekly time window in UTC in which moves are made. */
export interface ScheduleWindow {
  /** 0 is Sunday; empty means every day. */
  readonly days: readonly number[];
  /** Minutes since midnight; an end before the start is on the next day. */
  readonly start: number;
  readonly end: number;
}

export interface ReschedulingPolicy {
  readonly name: string;
  /** Selects the nodes that are sources and targets; `undefined` selects all. */
  readonly nodeSelector: LabelSelector | undefined;
  readonly mode: ReschedulingMode;
  readonly schedule: { readonly periodSeconds: number; readonly windows: readonly ScheduleWindow[] };
  readonly underused: UnderusedPolicy | undefined;
  readonly affinity: AffinityPolicy | undefined;
  readonly badService: BadServicePolicy | undefined;
  readonly aggressiveness: Aggressiveness;
  /** Move a pod only if it is known to fit elsewhere (S3-39). */
  readonly fitElsewhere: boolean;
}

/** The defaults without a ReschedulingPolicy: an even load by requests, and rules that are met. */
export const DRY_RUN_POLICY = {
  name: 'built-in',
  nodeSelector: undefined,
  mode: 'DryRun',
  schedule: { periodSeconds: 300, windows: [] },
  underused: {
    by: 'Requests',
    low: new Map(Object.entries({ cpu: 45, memory: 45 })),
    target: new Map(Object.entries({ cpu: 65, memory: 65 })),
    gain: undefined,
  },
  affinity: { required: true, preferred: true, spread: true },
  badService: undefined,
  aggressiveness: 'Medium',
  fitElsewhere: true,
} as const satisfies ReschedulingPolicy;

/** The settings behind each aggressiveness (S3-44). */
export interface Restraint {
  /** The minimum gain of a move, in points. */
  readonly gain: number;
  /** The part of every budget that is left unused: a share, and at least this many disruptions. */
  readonly unusedShare: number;
  readonly leastUnused: number;
  /** The share of an owner's pods that may be disrupted within its window; one pod always may. */
  readonly ownerShare: number;
}

export const RESTRAINTS: Readonly<Record<Aggressiveness, Restraint>> = {
  Low: { gain: 1.5, unusedShare: 0.5, leastUnused: 1, ownerShare: 0.1 },
  Medium: { gain: 0.75, unusedShare: 0.25, leastUnused: 0, ownerShare: 0.2 },
  High: { gain: 0.3, unusedShare: 0, leastUnused: 0, ownerShare: 1 / 3 },
};

/** Whether moves may be made at a time of the week, given in minutes since Sunday 00:00 UTC. */
export function isInWindow(windows: readonly ScheduleWindow[], minuteOfWeek: number): boolean {
  if (windows.length === 0) return true;
  const day = Math.floor(minuteOfWeek / MINUTES_PER_DAY);
  const minute = minuteOfWeek % MINUTES_PER_DAY;
  return windows.some((window) => covers(window, day, minute) || coversFromYesterday(window, day, minute));
}

const MINUTES_PER_DAY = 1_440;
const DAYS = 7;

function covers({ days, start, end }: ScheduleWindow, day: number, minute: number): boolean {
  const isDay = days.length === 0 || days.includes(day);
  return isDay && minute >= start && (end <= start || minute < end);
}

function coversFromYesterday({ days, start, end }: ScheduleWindow, day: number, minute: number): boolean {
  const yesterday = (day + DAYS - 1) % DAYS;
  return end <= start && (days.length === 0 || days.includes(yesterday)) && minute < end;
}
