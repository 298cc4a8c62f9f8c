import { NO_RECLAIM_RATES, type ReclaimRates } from '#agent/decide/node-view.ts';
import { createCounterWindow } from './counter-window.ts';
import type { Reading } from './reading.ts';
import type { VirtualMemoryCounters } from './vmstat.ts';

const WINDOW_MS = 10_000;
const MILLISECONDS_PER_SECOND = 1000;

/** The kernel's search for memory as rates over ten seconds; until those have passed nothing is known. */
export interface ReclaimMeter {
  readonly note: (answer: Reading<VirtualMemoryCounters>, atMs: number) => void;
  readonly rates: () => ReclaimRates;
}

export function createReclaimMeter(): ReclaimMeter {
  const scans = createCounterWindow(WINDOW_MS);
  const refaults = createCounterWindow(WINDOW_MS);
  const swapIns = createCounterWindow(WINDOW_MS);
  let isCounted = false;

  function note(answer: Reading<VirtualMemoryCounters>, atMs: number): void {
    isCounted = answer.kind === 'reading';
    if (answer.kind !== 'reading') return;
    scans.add(answer.value.scans, atMs);
    refaults.add(answer.value.refaults, atMs);
    swapIns.add(answer.value.swapIns, atMs);
  }

  function rates(): ReclaimRates {
    if (!isCounted) return NO_RECLAIM_RATES;
    return { scanned: perSecond(scans), refaulted: perSecond(refaults), swappedIn: perSecond(swapIns) };
  }
  return { note, rates };
}

function perSecond(window: { readonly rate: () => number | undefined }): number | undefined {
  const rate = window.rate();
  return rate === undefined ? undefined : rate * MILLISECONDS_PER_SECOND;
}
