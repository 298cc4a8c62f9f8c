import { maxAmounts, NO_AMOUNTS, type Amounts } from '#shared/domain/model/amounts.ts';
import { covers, type Demand } from '#shared/domain/quota/slice.ts';
import type { Clock } from '#shared/runtime/clock.ts';

/** What pods have been charged lately: in the present five seconds and the five before. */
export interface DemandMeter {
  add(amounts: Amounts): void;
  lately(): Demand;
}

const WINDOW_MS = 5_000;
const NOTHING: Demand = { pods: 0, largest: NO_AMOUNTS };

export function createDemandMeter(clock: Clock): DemandMeter {
  let before = NOTHING;
  let present = NOTHING;
  let begunAt = clock.monotonic();

  function moveOn(): void {
    const passed = clock.monotonic() - begunAt;
    if (passed < WINDOW_MS) return;
    before = passed < 2 * WINDOW_MS ? present : NOTHING;
    present = NOTHING;
    begunAt = clock.monotonic();
  }

  return {
    add: (amounts) => {
      moveOn();
      present = { pods: present.pods + 1, largest: largest(present.largest, amounts) };
    },
    lately: () => {
      moveOn();
      return { pods: before.pods + present.pods, largest: largest(before.largest, present.largest) };
    },
  };
}

/** The same map where nothing is larger, as with pods that are all alike. */
function largest(known: Amounts, amounts: Amounts): Amounts {
  return covers(known, amounts) ? known : maxAmounts(known, amounts);
}
