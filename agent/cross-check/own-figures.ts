import type { NodeSnapshot } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { Clock } from '#shared/runtime/clock.ts';

/** The agent's own reading just before and just after another source was read: any value in between agrees. */
export interface OwnReading {
  readonly totalBytes: number;
  readonly lowBytes: number;
  readonly highBytes: number;
  /** Another source may count these as available, or not. */
  readonly hugePageBytes?: number | undefined;
}

/** What the agent measured lately, to compare figures of other sources that are some seconds old. */
export interface OwnFigures {
  /** Keeps the figures of one pass. */
  readonly note: (snapshot: Pick<NodeSnapshot, 'readings' | 'usage' | 'now'>) => void;
  /** The memory signal over the last seconds; `undefined` without a reading. */
  readonly memory: () => OwnReading | undefined;
  readonly pods: PodHistory;
}

/** The kubelet's node figures are up to 16 s old when the agent reads them. */
const SUMMARY_AGE_MS = 20_000;

/** Nothing is known before the first pass. */
export function createOwnFigures(clock: Pick<Clock, 'monotonic'>): OwnFigures {
  const available = createRecentRange(SUMMARY_AGE_MS);
  const pods = createPodHistory();
  let totalBytes: number | undefined;
  let hugePageBytes: number | undefined;
  let noted: UsageByUid | undefined;

  function note({ readings, usage, now }: Parameters<OwnFigures['note']>[0]): void {
    const { availableBytes, workingSetBytes } = readings.memory ?? {};
    if (availableBytes !== undefined && workingSetBytes !== undefined) {
      totalBytes = availableBytes + workingSetBytes;
      hugePageBytes = readings.memory?.hugePageBytes;
      available.note(availableBytes, now);
    }
    // Pods are measured less often than the node: the same measurement is kept once.
    if (usage !== noted) pods.note(usage, now);
    noted = usage;
  }

  function memory(): OwnReading | undefined {
    const recent = available.range(clock.monotonic());
    if (totalBytes === undefined || recent === undefined) return undefined;
    return { totalBytes, lowBytes: recent.low, highBytes: recent.high, hugePageBytes };
  }
  return { note, memory, pods };
}

/** Memory of each pod over the last half minute, to compare a figure of another source at its own time. */
export interface PodHistory {
  readonly note: (usage: UsageByUid, atMs: number) => void;
  /**
   * Lowest and highest value from just before `fromMs` to just after `toMs`; `undefined` if the history is too short.
   */
  readonly range: (uid: string, fromMs: number, toMs: number) => Range | undefined;
}

export interface Range {
  readonly low: number;
  readonly high: number;
}

/** The kubelet's pod figures are up to 20 s old when they arrive. */
const ENTRIES = 32;
/** Values within this time share one entry with their lowest and highest value. */
const SPACING_MS = 1000;

/** The history of one pod in a few typed arrays: a node may have 500 pods. */
class PodSeries {
  readonly #at = new Float64Array(ENTRIES).fill(Number.NEGATIVE_INFINITY);
  readonly #low = new Float64Array(ENTRIES);
  readonly #high = new Float64Array(ENTRIES);
  #newest = 0;

  note(bytes: number, atMs: number): void {
    if (atMs - (this.#at[this.#newest] ?? 0) >= SPACING_MS) this.#begin(bytes, atMs);
    const index = this.#newest;
    this.#low[index] = Math.min(this.#low[index] ?? bytes, bytes);
    this.#high[index] = Math.max(this.#high[index] ?? bytes, bytes);
  }

  #begin(bytes: number, atMs: number): void {
    this.#newest = (this.#newest + 1) % ENTRIES;
    this.#at[this.#newest] = atMs;
    this.#low[this.#newest] = bytes;
    this.#high[this.#newest] = bytes;
  }

  /**
   * Walks back from the newest entry to the first that began before `fromMs`; of entries after `toMs`, only the
   * earliest counts.
   */
  range(fromMs: number, toMs: number): Range | undefined {
    let range: Range | undefined;
    for (let step = 0; step < ENTRIES; step += 1) {
      const index = (this.#newest - step + ENTRIES) % ENTRIES;
      const at = this.#at[index] ?? Number.NEGATIVE_INFINITY;
      if (at === Number.NEGATIVE_INFINITY) return undefined;
      // Of the entries that began after `toMs`, only the first covers the time in question.
      range = at > toMs ? this.#entry(index) : spanning(range, this.#entry(index));
      if (at <= fromMs) return range;
    }
    return undefined;
  }

  #entry(index: number): Range {
    return { low: this.#low[index] ?? Number.NaN, high: this.#high[index] ?? Number.NaN };
  }
}

function spanning(one: Range | undefined, other: Range): Range {
  return one === undefined ? other : { low: Math.min(one.low, other.low), high: Math.max(one.high, other.high) };
}

export function createPodHistory(): PodHistory {
  const seriesByUid = new Map<string, PodSeries>();

  function note(usage: UsageByUid, atMs: number): void {
    for (const uid of seriesByUid.keys()) if (!usage.has(uid)) seriesByUid.delete(uid);
    for (const [uid, { memory }] of usage) {
      if (memory?.workingSetBytes === undefined) continue;
      const series = seriesByUid.get(uid) ?? new PodSeries();
      seriesByUid.set(uid, series);
      series.note(memory.workingSetBytes, atMs);
    }
  }
  return { note, range: (uid, fromMs, toMs) => seriesByUid.get(uid)?.range(fromMs, toMs) };
}

/** Lowest and highest value of the recent past: the range in which an answer some seconds old may correctly be. */
export interface RecentRange {
  readonly note: (value: number, atMs: number) => void;
  readonly range: (nowMs: number) => { readonly low: number; readonly high: number } | undefined;
}

/** More samples in one window would only cost memory. */
const MAX_SAMPLES = 64;

interface RangeSample {
  readonly low: number;
  readonly high: number;
  readonly atMs: number;
}

/** Samples closer together than the window divided by 64 are merged. */
export function createRecentRange(windowMs: number): RecentRange {
  const spacingMs = windowMs / MAX_SAMPLES;
  let samples: RangeSample[] = [];

  function note(value: number, atMs: number): void {
    const last = samples.at(-1);
    if (last !== undefined && atMs - last.atMs < spacingMs) {
      const merged = { low: Math.min(last.low, value), high: Math.max(last.high, value), atMs: last.atMs };
      samples = [...samples.slice(0, -1), merged];
    } else samples = [...samples.filter((sample) => atMs - sample.atMs <= windowMs), { low: value, high: value, atMs }];
  }

  function range(nowMs: number): { low: number; high: number } | undefined {
    const recent = samples.filter(({ atMs }) => nowMs - atMs <= windowMs);
    if (recent.length === 0) return undefined;
    return { low: Math.min(...recent.map(({ low }) => low)), high: Math.max(...recent.map(({ high }) => high)) };
  }
  return { note, range };
}
