import type { Amounts } from '#shared/domain/model/amounts.ts';
import { ZERO, type Quantity } from '#shared/domain/model/quantity.ts';

/** What a pod costs: an amount for each of the names of its table, in their order. Pods that cost the same share one. */
export interface Cost {
  readonly amounts: readonly Quantity[];
  readonly key: string;
  uses: number;
}

/** The costs of pods, each held once: most pods of a cluster are copies of a few. */
export class CostTable {
  readonly names: readonly string[];
  readonly #costs = new Map<string, Cost>();

  /** Amounts of other names are not kept. */
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

  /** Whether amounts come to this cost. */
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
