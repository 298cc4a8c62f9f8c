import { type Because, reason } from '#shared/domain/base/because.ts';
import { MAX_AGE_MS } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { type BySpareKind, SPARE_KINDS, type SpareKind } from '#shared/domain/spare/spare-resources.ts';
import type { SpareSettings } from '#shared/domain/spare/spare-settings.ts';

/** What a node offers to spare pods now; a resource that it does not offer is absent. Bytes and millicores. */
export type SpareOffer = Partial<BySpareKind<number>>;

export interface SpareNode {
  readonly name: string;
  /** Whether it takes new pods: ready, not cordoned and not being emptied. */
  readonly isOpen: boolean;
  readonly offered: SpareOffer;
  readonly capacity: BySpareKind<number>;
}

/** What the agent of the node reported. */
export interface SpareReport {
  readonly mode: 'DryRun' | 'Enforce';
  readonly isFresh: boolean;
  readonly amounts: BySpareKind<{ readonly lent: number; readonly taken: number }>;
}

/** What shows that the agent of a node is at work. */
export interface AgentSigns {
  readonly observedAt: Instant | undefined;
  /** Whether its pod is ready, as the kubelet says; `undefined` for an agent that runs in no pod. */
  readonly isReady: boolean | undefined;
}

/** When an agent was heard last, in the time of who hears it. */
export interface HeardAgent {
  readonly observedAt: Instant | undefined;
  /** When the report came. */
  readonly reportedMs: number;
  /** The last sign of any kind. */
  readonly signMs: number;
}

/** What an agent without a pod lends is withdrawn once it has reported nothing new for so long. */
const SILENT_MS = 60_000;
/** It has already been unready for some seconds, and an agent that is updated is ready again within this time. */
const UNREADY_MS = 25_000;

/** With what was heard before: a new report is a sign, and so is a pod that is ready, as that needs the API server. */
export function hearAgent(before: HeardAgent | undefined, signs: AgentSigns, nowMs: number): HeardAgent {
  const { observedAt, isReady } = signs;
  if (before === undefined || before.observedAt !== observedAt) return { observedAt, reportedMs: nowMs, signMs: nowMs };
  return isReady === true ? { ...before, signMs: nowMs } : before;
}

export function isAgentSilent({ reportedMs, signMs }: HeardAgent, { isReady }: AgentSigns, nowMs: number): boolean {
  return nowMs - signMs > (isReady === undefined ? SILENT_MS : UNREADY_MS) || nowMs - reportedMs > MAX_AGE_MS.otherwise;
}

export interface SparePlan {
  /** Empty: the node is to offer nothing. */
  readonly offer: SpareOffer;
  readonly because: Because;
  readonly isChanged: boolean;
  /** The node offers less than its spare pods request: a kubelet that restarts would end some. */
  readonly isUrgent: boolean;
}

export const SPARE_REASONS = {
  lent: reason('SpareRoomLent', ({ name }: Named) => `node ${name} lends what its agent says can be lent`),
  notEnforced: reason('SpareRoomNotEnforced', ({ name }: Named) => `the policy of node ${name} does not lend its room`),
  silent: reason(
    'AgentSilent',
    ({ name }: Named) => `the agent of node ${name} is not ready, or has not reported in time`,
  ),
  overdrawn: reason(
    'SpareRoomOverdrawn',
    ({ name }: Named) => `spare pods request more than node ${name} has: pods bound by hand, or an agent that is wrong`,
  ),
  closed: reason('NodeClosed', ({ name }: Named) => `node ${name} is not ready, cordoned or being emptied`),
};

interface Named {
  readonly name: string;
}

/**
 * What a node is to offer. Never less than its spare pods request, because the kubelet would end them at its next start;
 * a resource that is withdrawn altogether ends none and takes in none. What an agent claims is bounded by its own node,
 * and so is what pods request: one that is bound by hand to a node without the resource is let in with any amount.
 */
export function planSpare(
  node: SpareNode,
  report: SpareReport | undefined,
  { mode, max }: Pick<SpareSettings, 'mode' | 'max'>,
): SparePlan {
  const message = reasonFor(node, report, mode);
  const offer = message === SPARE_REASONS.lent && report !== undefined ? offerOf(node, report, max) : {};
  const isChanged = SPARE_KINDS.some((kind) => offer[kind] !== node.offered[kind]);
  const isUrgent = SPARE_KINDS.some((kind) => (node.offered[kind] ?? Infinity) < (report?.amounts[kind].taken ?? 0));
  return { offer, isChanged, isUrgent, because: message({ name: node.name }, { node: node.name, ...offer }) };
}

function reasonFor(node: SpareNode, report: SpareReport | undefined, mode: SpareSettings['mode']) {
  if (mode !== 'Enforce') return SPARE_REASONS.notEnforced;
  if (report?.isFresh !== true) return SPARE_REASONS.silent;
  if (report.mode !== 'Enforce') return SPARE_REASONS.notEnforced;
  if (SPARE_KINDS.some((kind) => report.amounts[kind].taken > node.capacity[kind])) return SPARE_REASONS.overdrawn;
  return node.isOpen ? SPARE_REASONS.lent : SPARE_REASONS.closed;
}

function offerOf({ capacity }: SpareNode, { amounts }: SpareReport, max: number): SpareOffer {
  const amountOf = (kind: SpareKind): number => {
    const { lent, taken } = amounts[kind];
    return Math.floor(Math.min(Math.max(taken, Math.min(lent, max * capacity[kind])), capacity[kind]));
  };
  const all = SPARE_KINDS.map((kind) => [kind, amountOf(kind)] as const);
  return all.some(([, amount]) => amount > 0) ? Object.fromEntries(all) : {};
}
