/** What a node reports of one resource. */
interface SpareAmounts {
  readonly requested: number;
  readonly used: number;
  readonly lendable: number;
  readonly lent: number;
  readonly taken: number;
}

export interface SpareSums extends Omit<SpareAmounts, 'used'> {
  readonly idle: number;
}

/** What is requested and not used. */
export function idleOf({ requested, used }: Pick<SpareAmounts, 'requested' | 'used'>): number {
  return Math.max(0, requested - used);
}

/** Of all nodes: what one lacks is not subtracted from what another has idle, and a dry run lends nothing. */
export function spareSums(nodes: readonly (SpareAmounts & { readonly mode: string })[]): SpareSums {
  const sum = (of: (node: (typeof nodes)[number]) => number) => nodes.reduce((total, node) => total + of(node), 0);
  return {
    requested: sum(({ requested }) => requested),
    idle: sum(idleOf),
    lendable: sum(({ lendable }) => lendable),
    lent: sum(({ mode, lent }) => (mode === 'Enforce' ? lent : 0)),
    taken: sum(({ taken }) => taken),
  };
}
