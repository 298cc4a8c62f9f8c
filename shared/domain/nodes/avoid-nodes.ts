import { isSameOwner, type OwnerKey, ownerText, type Instant } from '#shared/domain/pod/pod.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import { isFreshReport, type NodePressureFacts } from '#shared/domain/snapshot/cluster-snapshot.ts';

/** What is to be placed, and when. */
export interface PlacementQuestion {
  /** The pod's controller; `undefined` if it has none. */
  readonly owner: OwnerKey | undefined;
  readonly pressures: ReadonlyMap<string, NodePressureFacts>;
  readonly now: Instant;
}

/** A node on which a pod should not be placed; a forbidden node is used only if no other remains. */
export interface AvoidedNode {
  readonly isForbidden: boolean;
  readonly because: Because;
}

/** Nodes that are left, and the others. */
export interface FilteredNodes {
  readonly left: readonly string[];
  readonly leftOut: ReadonlyMap<string, AvoidedNode>;
}

const NONE: ReadonlyMap<string, AvoidedNode> = new Map();
const NODES_PER_STEP = 100;

/**
 * Leaves out the nodes to avoid. If that leaves no node, leaves out only the forbidden ones; if all are forbidden,
 * leaves out none, so that the pod can still be placed.
 */
export function filterNodes(nodes: readonly string[], avoided: ReadonlyMap<string, AvoidedNode>): FilteredNodes {
  if (avoided.size === 0) return { left: nodes, leftOut: NONE };
  return without(nodes, avoided) ?? without(nodes, forbiddenOf(avoided)) ?? { left: nodes, leftOut: NONE };
}

/** Those of the nodes that should be avoided. */
export function* avoidedNodes(
  nodes: readonly string[],
  placement: PlacementQuestion,
): Steps<ReadonlyMap<string, AvoidedNode>> {
  const avoided = new Map<string, AvoidedNode>();
  for (const [at, node] of nodes.entries()) {
    const why = whyAvoided(node, placement);
    if (why !== undefined) avoided.set(node, why);
    if (at % NODES_PER_STEP === NODES_PER_STEP - 1) yield;
  }
  return avoided;
}

function forbiddenOf(avoided: ReadonlyMap<string, AvoidedNode>): ReadonlyMap<string, AvoidedNode> {
  return new Map(Array.from(avoided).filter(([, { isForbidden }]) => isForbidden));
}

/** `undefined` if nothing would be left. */
function without(nodes: readonly string[], leftOut: ReadonlyMap<string, AvoidedNode>): FilteredNodes | undefined {
  const left = nodes.filter((node) => !leftOut.has(node));
  return left.length === 0 ? undefined : { left, leftOut };
}

/** Why a pod should not be placed on a node; `undefined` if it may be. Mechanism S0-19. */
export function whyAvoided(node: string, { owner, pressures, now }: PlacementQuestion): AvoidedNode | undefined {
  const facts = pressures.get(node);
  if (facts === undefined) return undefined;
  const byOwner = ownerAvoided(facts, owner, now);
  if (byOwner?.isForbidden === true) return byOwner;
  const byPressure = aboutToEvict(facts, now);
  return byPressure?.isForbidden === true ? byPressure : (byOwner ?? byPressure);
}

/** Entries carry their own end, so they also apply while the node's agent does not report. */
function ownerAvoided(
  { avoid }: NodePressureFacts,
  owner: OwnerKey | undefined,
  now: Instant,
): AvoidedNode | undefined {
  if (owner === undefined) return undefined;
  const entries = avoid.filter((entry) => isLasting(entry, now) && isSameOwner(entry.owner, owner));
  if (entries.length === 0) return undefined;
  const text = 'a pod of the same owner was evicted from the node';
  const facts = { owner: ownerText(owner) };
  return { isForbidden: entries.some(({ isHard }) => isHard), because: { code: 'OwnerAvoided', text, facts } };
}

function aboutToEvict(facts: NodePressureFacts, now: Instant): AvoidedNode | undefined {
  const { isEnforced, pressure } = facts;
  if (!isEnforced || pressure === undefined || !isFreshReport(facts.observedAt, now)) return undefined;
  const because = { code: 'AboutToEvict', text: 'the node is about to evict pods', facts: { state: pressure } };
  return { isForbidden: pressure === 'Hard', because };
}

/** Keeps new pods of an owner off one node until a time (wall time). */
export interface AvoidEntry {
  readonly owner: OwnerKey;
  readonly until: Instant;
  readonly cause: string;
  /** Whether the node is forbidden; otherwise it is the last choice. */
  readonly hard: boolean;
}

/** Entries that one NodePressure holds at most. */
export const MAX_ENTRIES = 64;

/** An hour more than the longest that a process of ours writes (`spec.avoidance.longest` of a NodePressurePolicy): clocks differ. */
const MAX_AVOID_MS = 90_000_000;

/** Whether an entry counts at `now`. One that ends later than we ever write counts nowhere: nothing is held for years. */
export function isLasting({ until }: { readonly until: Instant }, now: Instant): boolean {
  return until > now && until <= now + MAX_AVOID_MS;
}

/** The entries that still last at `now`. */
export function lastingEntries(
  { avoid }: { readonly avoid: readonly AvoidEntry[] },
  now: Instant,
): readonly AvoidEntry[] {
  return avoid.filter((entry) => isLasting(entry, now));
}
