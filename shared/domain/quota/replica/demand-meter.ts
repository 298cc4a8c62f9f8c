import { maxAmounts, NO_AMOUNTS, type Amounts } from '#shared/domain/quantity/amounts.ts';
import { covers, type Demand } from '#shared/domain/quota/ledger/ledger-state.ts';

const WINDOW_MS = 5_000;
const NOTHING: Demand = { pods: 0, largest: NO_AMOUNTS };

/** The recent charges: in the current and the previous window of five seconds. Times are monotonic. */
export class DemandMeter {
  #before = NOTHING;
  #present = NOTHING;
  #begunAt: number;

  constructor(now: number) {
    this.#begunAt = now;
  }

  add(amounts: Amounts, now: number): void {
    this.#moveOn(now);
    this.#present = { pods: this.#present.pods + 1, largest: largest(this.#present.largest, amounts) };
  }

  lately(now: number): Demand {
    this.#moveOn(now);
    return {
      pods: this.#before.pods + this.#present.pods,
      largest: largest(this.#before.largest, this.#present.largest),
    };
  }

  #moveOn(now: number): void {
    const passed = now - this.#begunAt;
    if (passed < WINDOW_MS) return;
    this.#before = passed < 2 * WINDOW_MS ? this.#present : NOTHING;
    this.#present = NOTHING;
    this.#begunAt = now;
  }
}

/** The same map if nothing is larger, as with identical pods. */
function largest(known: Amounts, amounts: Amounts): Amounts {
  return covers(known, amounts) ? known : maxAmounts(known, amounts);
}
