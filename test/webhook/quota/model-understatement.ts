import { type Amounts, quantityNumber, ZERO } from '#shared/domain/quantity/quantity.ts';
import { podUidOf, type LedgerState, type Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';

/** Something that costs the quota: a pod, or what will be one. */
export interface Admitted {
  readonly uid: string;
  /** By default its UID. */
  readonly name?: string;
  readonly amounts: Amounts;
}

export function unitsOf(amounts: Amounts): number {
  return quantityNumber(amounts.get('units') ?? ZERO);
}

/**
 * Sharper than comparing sums, in which one pod too many counted hides another that is not: every admitted pod has its
 * own reservation, or is included in the count or in slices.
 */
export function understatement({ used, reservations }: LedgerState, admitted: readonly Admitted[]): string | undefined {
  const reserved = reservedByName([...reservations.values()]);
  const costs = new Map<string, number>();
  for (const { uid, name = uid, amounts } of admitted) increase(costs, name, unitsOf(amounts));
  let uncovered = 0;
  for (const [name, cost] of costs) uncovered += Math.max(0, cost - (reserved.get(name) ?? 0));
  const counted = unitsOf(used) - [...reserved.values()].reduce((sum, units) => sum + units, 0);
  return counted < uncovered ? `${uncovered} units have no reservation, ${counted} are counted` : undefined;
}

/** Creations of one name count as the largest of them; where a pod has the name, what they add to it is not stored. */
function reservedByName(reservations: readonly Reservation[]): Map<string, number> {
  const reserved = new Map<string, number>();
  const creations = new Map<string, number>();
  for (const { uid, pod, amounts, isNameTaken } of reservations) {
    const units = isNameTaken === true ? 0 : unitsOf(amounts);
    if (podUidOf(uid) === uid) creations.set(pod, Math.max(creations.get(pod) ?? 0, units));
    else increase(reserved, pod, units);
  }
  for (const [name, units] of creations) increase(reserved, name, units);
  return reserved;
}

function increase(sums: Map<string, number>, key: string, by: number): void {
  sums.set(key, (sums.get(key) ?? 0) + by);
}
