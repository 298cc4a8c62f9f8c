import { type Because, reason } from '#shared/domain/base/because.ts';
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
  silent: reason('AgentSilent', ({ name }: Named) => `the agent of node ${name} has not reported for a minute`),
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
