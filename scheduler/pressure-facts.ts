import {
  type EvictionEntry,
  type NextEntry,
  type NodePressure,
  type NodePressureStatus,
  worstSignal,
} from '#shared/api/node-pressure.ts';
import { REMOVING_OUTCOMES } from '#shared/domain/avoidance/evicted-owners.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { NodePressureFacts } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { compareQuantities } from '#shared/domain/quantity/quantity.ts';

/** An accepted eviction makes its pod terminate at once, and the view sees that before a minute is over. */
const SEEN_AFTER_MS = 60_000;
const NO_PODS: ReadonlySet<string> = new Set();

/** What decisions about preemption and placement read of a NodePressure. */
export function pressureFacts({ name, avoid, status }: NodePressure): NodePressureFacts {
  return {
    node: name,
    observedAt: status?.observedAt,
    isEnforced: status?.mode === 'Enforce',
    pressure: worstState(status),
    overRequest: uidsOf((status?.next ?? []).filter(isOverRequest)),
    evicting: uidsOf((status?.evictions ?? []).filter((each) => isGoing(each, status?.observedAt))),
    avoid: avoid.map(({ owner, until, hard }) => ({ owner, until, isHard: hard })),
  };
}

function worstState(status: NodePressureStatus | undefined): NodePressureFacts['pressure'] {
  const state = worstSignal(status?.signals ?? [])?.state;
  return state === 'Hard' || state === 'Soft' ? state : undefined;
}

function isOverRequest({ usage, request }: NextEntry): boolean {
  const used = parseQuantity(usage ?? '');
  const requested = parseQuantity(request ?? '0');
  return used.ok && requested.ok && compareQuantities(used.quantity, requested.quantity) > 0;
}

/** Both times are of the agent's clock. */
function isGoing({ mode, outcome, requestedAt, endedAt }: EvictionEntry, observedAt: Instant | undefined): boolean {
  if (mode !== 'Enforce' || endedAt !== undefined || !REMOVING_OUTCOMES.includes(outcome)) return false;
  if (requestedAt === undefined || observedAt === undefined) return false;
  return Math.abs(observedAt - requestedAt) <= SEEN_AFTER_MS;
}

/** Most nodes have none, and share this one. */
function uidsOf(entries: readonly { readonly uid: string }[]): ReadonlySet<string> {
  return entries.length === 0 ? NO_PODS : new Set(entries.map(({ uid }) => uid));
}
