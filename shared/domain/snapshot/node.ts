import type { Amounts } from '#shared/domain/quantity/amounts.ts';

/** A node as the scheduling decisions see it. */
export interface Node {
  readonly name: string;
  readonly uid: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly taints: readonly Taint[];
  /** `spec.unschedulable`: cordoned. */
  readonly isUnschedulable: boolean;
  /** What pods may request in sum; a resource left out counts as 0. */
  readonly allocatable: Amounts;
}

export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}
