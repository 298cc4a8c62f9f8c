import type { Because } from '#shared/domain/base/because.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import { type Instant, MAX_SKEW_MS } from '#shared/domain/pod/pod.ts';

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

/** The fields of a node that this controller writes. */
export interface ControlledNode {
  readonly name: string;
  /** When each of our taints was added; `undefined` if the taint does not record it. */
  readonly taints: ReadonlyMap<Family, Instant | undefined>;
  /** Our conditions. */
  readonly conditions: ReadonlyMap<Family, ConditionStatus>;
  /**
   * Resources whose taint another controller removes: it is not added at present, and does not count in the share of
   * tainted nodes.
   */
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

/** Reads one resource from a report. A missing or stale report never counts as relief. */
export function findingOf(report: PressureReport | undefined, family: Family): PressureFinding {
  if (report?.observedAt === undefined) return { kind: 'unreported' };
  const { mode } = report;
  if (!report.isFresh) return { kind: 'unknown', since: report.observedAt, mode };
  const { status, since } = report.conditions.get(family) ?? { status: 'Unknown', since: report.observedAt };
  return { kind: KINDS[status], since, mode };
}

const KINDS = { True: 'pressed', False: 'relieved', Unknown: 'unknown' } as const;

/** One write to one node; `condition` without a status removes the condition. */
export type NodeChange =
  | { readonly kind: 'taint' | 'untaint'; readonly node: string; readonly family: Family; readonly because: Because }
  | {
      readonly kind: 'condition';
      readonly node: string;
      readonly family: Family;
      readonly status: ConditionStatus | undefined;
      readonly because: Because;
    };

type TaintChange = Extract<NodeChange, { readonly kind: 'taint' | 'untaint' }>;

export interface NodePlan {
  /** In the order in which to write them: taints to remove, taints to add, conditions. */
  readonly changes: readonly NodeChange[];
  /** Nodes under pressure without a taint, because enough other nodes have one. */
  readonly heldBack: readonly string[];
}

/**
 * Plans taints and conditions of all nodes from what their agents reported (S0-19). At most a share of the nodes, and
 * at least one, has a taint; the nodes longest under pressure come first, and an existing taint is never removed from a
 * node in favour of another.
 */
export function planNodeChanges(
  nodes: readonly ControlledNode[],
  reports: ReadonlyMap<string, PressureReport>,
  limits: TaintPolicy,
  now: Instant,
): NodePlan {
  const taints = nodes.flatMap((node) => taintChanges(node, reports.get(node.name), limits.of(node.name), now));
  const removed = taints.filter(({ kind }) => kind === 'untaint');
  const removedFrom = Map.groupBy(removed, ({ node }) => node);
  const { added, heldBack } = withinCap(nodes, taints, { reports, limits, removedFrom });
  const conditions = nodes.flatMap((node) =>
    conditionChanges(node, reports.get(node.name), limits.of(node.name), removedFrom.get(node.name) ?? []),
  );
  return { changes: [...removed, ...added, ...conditions], heldBack };
}

function taintChanges(
  node: ControlledNode,
  report: PressureReport | undefined,
  limits: TaintLimits,
  now: Instant,
): readonly TaintChange[] {
  return FAMILIES.flatMap((family): readonly TaintChange[] => {
    if (!limits.families.includes(family) && !node.taints.has(family)) return [];
    const { kind, because } = judgeTaint(node, family, { finding: findingOf(report, family), limits }, now);
    const isTainted = node.taints.has(family);
    if (kind === 'keep' || (kind === 'add') === isTainted) return [];
    if (kind === 'add' && node.heldOff?.has(family) === true) return [];
    return [{ kind: kind === 'add' ? 'taint' : 'untaint', node: node.name, family, because }];
  });
}

interface Sources {
  readonly reports: ReadonlyMap<string, PressureReport>;
  readonly limits: Pick<TaintPolicy, 'mostTaintedShare'>;
  /** Taints to remove, by node. */
  readonly removedFrom: ReadonlyMap<string, readonly TaintChange[]>;
}

function withinCap(
  nodes: readonly ControlledNode[],
  changes: readonly TaintChange[],
  { reports, limits, removedFrom }: Sources,
): { readonly added: readonly TaintChange[]; readonly heldBack: readonly string[] } {
  const tainted = new Set(
    nodes.filter(({ name, taints }) => taints.size > (removedFrom.get(name)?.length ?? 0)).map(({ name }) => name),
  );
  const wanted = changes.filter(({ kind }) => kind === 'taint');
  const since = ({ node, family }: TaintChange): Instant =>
    reports.get(node)?.conditions.get(family)?.since ?? Infinity;
  const fresh = wanted
    .filter(({ node }) => !tainted.has(node))
    .toSorted((a, b) => since(a) - since(b) || compareTexts(a.node, b.node));
  const names = [...new Set(fresh.map(({ node }) => node))];
  const room = Math.max(0, Math.max(1, Math.floor(nodes.length * limits.mostTaintedShare)) - tainted.size);
  const admitted = new Set([...tainted, ...names.slice(0, room)]);
  return { added: wanted.filter(({ node }) => admitted.has(node)), heldBack: names.slice(room) };
}

const STATUSES = { pressed: 'True', relieved: 'False', unknown: 'Unknown' } as const;

function conditionChanges(
  node: ControlledNode,
  report: PressureReport | undefined,
  limits: TaintLimits,
  removed: readonly TaintChange[],
): readonly NodeChange[] {
  return FAMILIES.flatMap((family): readonly NodeChange[] => {
    const isTainted = node.taints.has(family) && !removed.some((each) => each.family === family);
    const wanted = wantedCondition(report, family, { limits, isTainted });
    const present = node.conditions.get(family);
    // A resource that was never measured needs no condition.
    if (wanted === present || (present === undefined && wanted === 'Unknown')) return [];
    const text = `${family} of node ${node.name}: ${wanted ?? 'no agent reports'}`;
    const because = { code: 'Reported', text, facts: { node: node.name, family, status: wanted ?? 'none' } };
    return [{ kind: 'condition', node: node.name, family, status: wanted, because }];
  });
}

function wantedCondition(
  report: PressureReport | undefined,
  family: Family,
  { limits, isTainted }: { readonly limits: TaintLimits; readonly isTainted: boolean },
): ConditionStatus | undefined {
  if (!limits.families.includes(family)) return undefined;
  const finding = findingOf(report, family);
  if (finding.kind === 'unreported') return isTainted ? 'Unknown' : undefined;
  return STATUSES[finding.kind];
}

/** Which resources get a taint, and how long taints stay; milliseconds. */
export interface TaintLimits {
  /** Resources to show on nodes; taints and conditions of others are removed. */
  readonly families: readonly Family[];
  /** How long a taint stays after the pressure has ended. */
  readonly transitionMs: number;
  /** How long a taint stays while the node's state is unknown. */
  readonly unknownMs: number;
}

export interface TaintPolicy {
  /** Of each node by name. */
  readonly of: (node: string) => TaintLimits;
  /** Share of all nodes that may have a taint at once; at least one node may. */
  readonly mostTaintedShare: number;
}

/** The action for one taint. */
export interface TaintVerdict {
  readonly kind: 'add' | 'remove' | 'keep';
  readonly because: Because;
}

/** Decides one taint of one node. Only a report in mode Enforce adds it; without a report it stays for a while. */
function judgeTaint(
  node: ControlledNode,
  family: Family,
  { finding, limits }: { readonly finding: PressureFinding; readonly limits: TaintLimits },
  now: Instant,
): TaintVerdict {
  const because = (code: string, text: string): Because => ({
    code,
    text: `${family} of node ${node.name}: ${text}`,
    facts: { node: node.name, family },
  });
  if (!limits.families.includes(family)) return remove(because('NotShown', 'its policy does not show it'));
  if (finding.kind === 'unreported') return whileUnreported(node.taints.get(family), limits, { now, because });
  if (finding.mode === 'DryRun') return remove(because('AgentDryRun', 'the agent is in mode DryRun'));
  if (finding.kind === 'pressed') return { kind: 'add', because: because('Pressure', 'under pressure') };
  const since = usable(finding.since, now) ?? usable(node.taints.get(family), now);
  const ageMs = since === undefined ? Infinity : now - since;
  const [holdMs, ended, held] =
    finding.kind === 'relieved'
      ? [limits.transitionMs, because('PressureEnded', 'no pressure'), because('Transition', 'pressure ended recently')]
      : [limits.unknownMs, because('UnknownTooLong', 'unknown for too long'), because('Unknown', 'unknown')];
  return ageMs >= holdMs ? remove(ended) : { kind: 'keep', because: held };
}

/** A time in the future would keep its taint that much longer, so it is ignored. */
function usable(time: Instant | undefined, now: Instant): Instant | undefined {
  return time !== undefined && time > now + MAX_SKEW_MS ? undefined : time;
}

interface ChangeContext {
  readonly now: Instant;
  readonly because: (code: string, text: string) => Because;
}

function whileUnreported(
  addedAt: Instant | undefined,
  limits: TaintLimits,
  { now, because }: ChangeContext,
): TaintVerdict {
  const since = usable(addedAt, now);
  const isRecent = since !== undefined && now - since < limits.unknownMs;
  return isRecent
    ? { kind: 'keep', because: because('Unknown', 'no agent reports') }
    : remove(because('Unreported', 'no agent reports'));
}

function remove(because: Because): TaintVerdict {
  return { kind: 'remove', because };
}
