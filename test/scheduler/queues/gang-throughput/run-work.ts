import type { Work } from './arrivals.ts';

/** A cluster under one of the rules that are compared; a step is a second. */
export interface WorkCluster {
  readonly arrive: (work: Work) => void;
  readonly step: () => Promise<void> | void;
  /** How many pods of it are on nodes. */
  readonly running: (work: Work) => number;
  /** All of it has run to its end. */
  readonly finish: (work: Work) => void;
}

export interface WorkDone {
  /** CPU-seconds of gangs that ran whole without interruption until the horizon. */
  readonly gangs: number;
  readonly singles: number;
  /** Seconds for which a gang was on nodes in part, at most. */
  readonly longestPart: number;
  readonly unfinished: readonly string[];
  /** When the last one ended. */
  readonly seconds: number;
}

interface Progress {
  whole: number;
  partSince: number | undefined;
}

interface RunSettings {
  /** Until when work counts, in seconds. */
  readonly horizon: number;
  /** When a run ends although something is unfinished. */
  readonly limit: number;
  readonly onSecond?: (second: number) => void;
}

/** Runs all arrivals to their end. What an interruption undoes does not count. */
export async function runWork(
  cluster: WorkCluster,
  arrivals: readonly Work[],
  { horizon, limit, onSecond }: RunSettings,
): Promise<WorkDone> {
  const day = new Day(cluster, horizon);
  const lastAt = arrivals.at(-1)?.at ?? 0;
  let second = 0;
  for (; second < limit && (second <= lastAt || day.live.size > 0); second += 1) {
    for (const work of arrivals.filter(({ at }) => at === second)) day.arrive(work);
    onSecond?.(second);
    await cluster.step();
    day.follow(second);
  }
  const unfinished = Array.from(day.live.keys(), ({ name }) => name);
  return { ...day.done, longestPart: day.longestPart, unfinished, seconds: second };
}

class Day {
  readonly live = new Map<Work, Progress>();
  readonly done = { gangs: 0, singles: 0 };
  longestPart = 0;
  readonly #cluster: WorkCluster;
  readonly #horizon: number;

  constructor(cluster: WorkCluster, horizon: number) {
    this.#cluster = cluster;
    this.#horizon = horizon;
  }

  arrive(work: Work): void {
    this.live.set(work, { whole: 0, partSince: undefined });
    this.#cluster.arrive(work);
  }

  follow(second: number): void {
    for (const [work, progress] of this.live) this.#note(work, progress, second);
    if (second !== this.#horizon - 1) return;
    for (const [work, { whole }] of this.live) this.#credit(work, whole);
  }

  #note(work: Work, progress: Progress, second: number): void {
    const running = this.#cluster.running(work);
    progress.whole = running === work.size ? progress.whole + 1 : 0;
    progress.partSince = running > 0 && running < work.size ? (progress.partSince ?? second) : undefined;
    this.longestPart = Math.max(this.longestPart, second - (progress.partSince ?? second));
    if (progress.whole < work.seconds) return;
    if (second < this.#horizon) this.#credit(work, work.seconds);
    this.#cluster.finish(work);
    this.live.delete(work);
  }

  #credit({ isGang, size, cpu }: Work, seconds: number): void {
    this.done[isGang ? 'gangs' : 'singles'] += seconds * size * cpu;
  }
}
