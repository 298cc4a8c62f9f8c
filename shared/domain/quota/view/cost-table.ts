import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import { ZERO, type Quantity } from '#shared/domain/quantity/quantity.ts';

/** The cost of a pod: an amount for each name of its table, in order. Pods with equal costs share one. */
export interface Cost {
  readonly amounts: readonly Quantity[];
  readonly key: string;
  uses: number;
}

/** The costs of pods, each stored once: most pods of a cluster are copies of a few. */
export class CostTable {
  readonly names: readonly string[];
  readonly #costs = new Map<string, Cost>();

  /** Amounts of other names are dropped. */
  constructor(names: readonly string[]) {
    this.names = names;
  }

  take(amounts: Amounts): Cost {
    const kept = this.names.map((name) => amounts.get(name) ?? ZERO);
    const key = kept.map(({ mantissa, exponent, format }) => `${mantissa}e${exponent}${format}`).join(' ');
    const cost = this.#costs.get(key) ?? { amounts: kept, key, uses: 0 };
    if (cost.uses === 0) this.#costs.set(key, cost);
    cost.uses += 1;
    return cost;
  }

  /** Whether amounts equal this cost. */
  isCost({ amounts: present }: Cost, amounts: Amounts): boolean {
    return this.names.every((name, at) => isEqual(present[at] ?? ZERO, amounts.get(name) ?? ZERO));
  }

  giveBack(cost: Cost): void {
    cost.uses -= 1;
    if (cost.uses === 0) this.#costs.delete(cost.key);
  }

  get size(): number {
    return this.#costs.size;
  }
}

function isEqual(a: Quantity, b: Quantity): boolean {
  return a.mantissa === b.mantissa && a.exponent === b.exponent;
}
