import { NO_RECLAIM_RATES, type ReclaimRates } from '#agent/decide/snapshot/node-view.ts';
import { createCounterWindow, type CounterWindow } from '#agent/observe/source/counter-window.ts';
import { pageSize } from '#agent/observe/source/page-size.ts';
import type { Reading } from '#agent/observe/source/reading.ts';
import type { VirtualMemoryCounters } from './vmstat.ts';

const WINDOW_MS = 10_000;
const MILLISECONDS_PER_SECOND = 1000;
const PAGE_BYTES = pageSize();

/** The kernel's reclaim activity as rates over ten seconds; unknown until the window is full. */
export interface ReclaimMeter {
  readonly note: (answer: Reading<VirtualMemoryCounters>, atMs: number) => void;
  readonly rates: () => ReclaimRates;
}

export function createReclaimMeter(): ReclaimMeter {
  const scans = createCounterWindow(WINDOW_MS);
  const steals = createCounterWindow(WINDOW_MS);
  const refaults = createCounterWindow(WINDOW_MS);
  const swapIns = createCounterWindow(WINDOW_MS);
  let isCounted = false;

  function note(answer: Reading<VirtualMemoryCounters>, atMs: number): void {
    isCounted = answer.kind === 'reading';
    if (answer.kind !== 'reading') return;
    scans.add(answer.value.scans, atMs);
    steals.add(answer.value.steals, atMs);
    refaults.add(answer.value.refaults, atMs);
    swapIns.add(answer.value.swapIns, atMs);
  }

  function rates(): ReclaimRates {
    if (!isCounted) return NO_RECLAIM_RATES;
    return {
      scanned: bytesPerSecond(scans),
      stolen: bytesPerSecond(steals),
      refaulted: bytesPerSecond(refaults),
      swappedIn: bytesPerSecond(swapIns),
    };
  }
  return { note, rates };
}

function bytesPerSecond(pages: Pick<CounterWindow, 'rate'>): number | undefined {
  const rate = pages.rate();
  return rate === undefined ? undefined : rate * MILLISECONDS_PER_SECOND * PAGE_BYTES;
}
