import type { Instant } from '#shared/domain/pod/pod.ts';

/** Resources whose pressure a node shows as a taint and a condition, as NodePressure names them. */
export const FAMILIES = ['Memory', 'Cpu', 'Io', 'Disk', 'Pid'] as const;
export type Family = (typeof FAMILIES)[number];

/** What the agent of one node last wrote, as far as taints and conditions depend on it. */
export interface PressureReport {
  readonly name: string;
  readonly mode: 'DryRun' | 'Enforce';
  /** When it was written; `undefined` before the first write. */
  readonly observedAt: Instant | undefined;
  /** A report that is too old says nothing about the node. */
  readonly isFresh: boolean;
  readonly conditions: ReadonlyMap<string, ReportedCondition>;
}

export interface ReportedCondition {
  readonly status: ConditionStatus;
  readonly since: Instant | undefined;
}

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** A node as far as this controller writes it. */
export interface ControlledNode {
  readonly name: string;
  /** When each of our taints was added; `undefined` where the taint does not say. */
  readonly taints: ReadonlyMap<Family, Instant | undefined>;
  /** Our conditions. */
  readonly conditions: ReadonlyMap<Family, ConditionStatus>;
  /** Families whose taint another controller removes: it is not added at present, and takes up no share of the nodes. */
  readonly heldOff?: ReadonlySet<Family>;
}

/** What is known about one resource of one node. */
export type PressureFinding =
  | { readonly kind: 'pressed'; readonly since: Instant | undefined; readonly mode: PressureReport['mode'] }
  | { readonly kind: 'relieved'; readonly since: Instant | undefined; readonly mode: PressureReport['mode'] }
  /** A stale report, or one that does not measure the resource. */
  | { readonly kind: 'unknown'; readonly since: Instant | undefined; readonly mode: PressureReport['mode'] }
  /** No agent reports this node. */
  | { readonly kind: 'unreported' };

/** Reads one resource from a report. A missing or stale report is never a relief. */
export function findingOf(report: PressureReport | undefined, family: Family): PressureFinding {
  if (report?.observedAt === undefined) return { kind: 'unreported' };
  const { mode } = report;
  if (!report.isFresh) return { kind: 'unknown', since: report.observedAt, mode };
  const { status, since } = report.conditions.get(family) ?? { status: 'Unknown', since: report.observedAt };
  return { kind: KINDS[status], since, mode };
}

const KINDS = { True: 'pressed', False: 'relieved', Unknown: 'unknown' } as const;
