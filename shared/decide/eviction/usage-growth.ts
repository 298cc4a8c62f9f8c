import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Measured } from './history/eviction-circuit-breaker.ts';
import { figureFor } from './snapshot/deciding-figures.ts';
import type { ObservedPods } from './snapshot/node-snapshot.ts';

/** What each pod used, and what the node had left, at one time. */
interface Checkpoint extends Measured {
  readonly used: ReadonlyMap<string, number>;
  /** Of pods that have used less than half of it since: the least. The kernel killed them, or they gave memory back. */
  readonly fallen?: ReadonlyMap<string, number>;
}

/** The older checkpoint is one to two window lengths old; less while the agent has not run for that long. */
interface GrowthWindow {
  readonly older: Checkpoint;
  readonly newer: Checkpoint;
}

/** The memory of pods and node in the past, shortest window first; empty before the first measurement. */
export type GrowthWindows = readonly GrowthWindow[];

export const NO_GROWTH: GrowthWindows = [];

/** Seconds for a fast leak, a quarter of an hour for a slow one. */
const LENGTHS_MS: readonly Instant[] = [5000, 60_000, 900_000];

type MeasuredPods = Pick<ObservedPods, 'pods' | 'usage'>;

/** The windows after one more measurement of the node's available memory. */
export function advanceGrowth(
  previous: GrowthWindows,
  seen: MeasuredPods,
  measured: Measured | undefined,
): GrowthWindows {
  if (measured === undefined) return previous;
  return shifted(withFalls(previous, seen), seen, measured);
}

function shifted(previous: GrowthWindows, seen: MeasuredPods, measured: Measured): GrowthWindows {
  const first = previous.length === 0;
  const isOver = ({ newer }: GrowthWindow, index: number): boolean =>
    measured.at - newer.at >= (LENGTHS_MS[index] ?? 0);
  if (!first && !previous.some(isOver)) return previous;
  const newer = { ...measured, used: usedMemory(seen) };
  if (first) return LENGTHS_MS.map(() => ({ older: newer, newer }));
  return previous.map((each, index) => (isOver(each, index) ? { older: each.newer, newer } : each));
}

const FALLEN_SHARE = 0.5;

/** In the last seconds a pod that starts again takes all its memory anew; the longer windows show what it kept. */
function withFalls([shortest, ...longer]: GrowthWindows, seen: MeasuredPods): GrowthWindows {
  if (shortest === undefined) return NO_GROWTH;
  return [{ older: withFallen(shortest.older, seen), newer: withFallen(shortest.newer, seen) }, ...longer];
}

function withFallen(checkpoint: Checkpoint, { usage }: MeasuredPods): Checkpoint {
  const { used, fallen } = checkpoint;
  const falls = [...used].flatMap(([uid, before]): readonly (readonly [string, number])[] => {
    const now = figureFor('memory.available', usage.get(uid));
    const least = Math.min(before * FALLEN_SHARE, fallen?.get(uid) ?? Infinity);
    return now !== undefined && now < least ? [[uid, now]] : [];
  });
  return falls.length === 0 ? checkpoint : { ...checkpoint, fallen: new Map([...(fallen ?? []), ...falls]) };
}

/** Of pods that can be read, also victims of the kubelet: what others use is unexplained. */
function usedMemory({ pods, usage }: MeasuredPods): Checkpoint['used'] {
  const used = new Map<string, number>();
  for (const { uid } of pods.endedByKubelet) used.set(uid, figureFor('memory.available', usage.get(uid)) ?? 0);
  for (const uid of pods.aliveByUid.keys()) used.set(uid, figureFor('memory.available', usage.get(uid)) ?? 0);
  return used;
}

/** What a pod uses more than at the start of each window; for a pod that has come since, all that it uses. */
export function growthOf(windows: GrowthWindows, uid: string, used: number): readonly number[] {
  return windows.map(({ older }) => used - (older.used.get(uid) ?? 0));
}

/** The same of a pod that stays, but in the last seconds since it fell: it takes anew what the node got back. */
export function regrowthOf(windows: GrowthWindows, uid: string, used: number): readonly number[] {
  return windows.map(({ older }) => used - (older.fallen?.get(uid) ?? older.used.get(uid) ?? 0));
}

/** The start of the shortest window, and what a pod has grown since; `undefined` for a pod that has come since. */
function lastGrowth([shortest]: GrowthWindows, uid: string, used: number) {
  const before = shortest?.older.used.get(uid);
  return shortest && before !== undefined ? { since: shortest.older, grown: used - before } : undefined;
}

/** How fast a pod grows since the start of the shortest window, in bytes per millisecond; 0 if it does not, or is new. */
export function growthRateOf(
  windows: GrowthWindows,
  uid: string,
  now: { readonly used: number; readonly at: Instant },
): number {
  const last = lastGrowth(windows, uid, now.used);
  if (last === undefined || now.at <= last.since.at) return 0;
  return Math.max(0, last.grown / (now.at - last.since.at));
}

/** Smaller changes of a working set are no growth. */
const LEAST_LEAK = 8 * 1024 * 1024;

/** Whether a pod that was there at the start of the shortest window took most of what the node lost in it. */
export function isLeaking(
  windows: GrowthWindows,
  uid: string,
  now: { readonly used: number; readonly available: number },
): boolean {
  const last = lastGrowth(windows, uid, now.used);
  if (last === undefined) return false;
  return last.grown >= LEAST_LEAK && last.grown >= (last.since.available - now.available) / 2;
}

/** How much less memory is available than at the start of each window. */
export function lossOf(windows: GrowthWindows, available: number): readonly number[] {
  return windows.map(({ older }) => older.available - available);
}

/** The part of the loss that no pod explains that can be read and measured. */
export function unexplainedLoss(windows: GrowthWindows, seen: MeasuredPods, available: number): readonly number[] {
  const used = sumOf(usedMemory(seen));
  return windows.map(({ older }) => older.available - available - (used - sumOf(older.used)));
}

function sumOf(used: Checkpoint['used']): number {
  let sum = 0;
  for (const each of used.values()) sum += each;
  return sum;
}
