import { quantile, rounded } from '#bench/shared/support/quantile.ts';
import type { Block } from './run-block.ts';
import type { Blocks } from './run-rounds.ts';

interface Latency {
  /** Median of the medians of all blocks: one disturbed block does not move it. */
  readonly p50Ms: number;
  /** Over all creates. */
  readonly p99Ms: number;
  /** Median over the blocks: the tail without disturbances. */
  readonly medianOfBlockP99Ms: number;
}

/** The latency of each variant, its addition to `nothing`, its throughput, and the start of its blocks. */
export function report(blocks: Blocks): object {
  const base = latency(blocks.get('nothing') ?? []);
  const baseCpuMs = meanCpuMs(blocks.get('nothing') ?? []);
  const variants = Array.from(blocks, ([name, own]) => {
    const took = latency(own);
    const perSecond = own.map((block) => block.perSecond);
    const repeats = own.reduce((sum, block) => sum + block.repeats, 0);
    const added = difference(took, base);
    const creates = own.reduce((sum, block) => sum + block.latenciesMs.length, 0);
    const first = own.flatMap((block) => block.firstLatenciesMs);
    const figures = {
      blocks: own.length,
      creates,
      ...took,
      added,
      addedCpuMs: rounded(meanCpuMs(own) - baseCpuMs),
      perSecond: rounded(quantile(perSecond, 0.5)),
      repeats,
    };
    return [
      name,
      { ...figures, first: { creates: first.length, p50Ms: at(first, 0.5), p99Ms: at(first, 0.99) } },
    ] as const;
  });
  return Object.fromEntries(variants);
}

function meanCpuMs(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / Math.max(1, blocks.length);
}

function at(latenciesMs: readonly number[], share: number): number {
  return rounded(quantile(latenciesMs, share));
}

function latency(blocks: readonly Block[]): Latency {
  const own = (share: number): readonly number[] => blocks.map(({ latenciesMs }) => quantile(latenciesMs, share));
  const all = blocks.flatMap(({ latenciesMs }) => latenciesMs);
  return {
    p50Ms: rounded(quantile(own(0.5), 0.5)),
    p99Ms: rounded(quantile(all, 0.99)),
    medianOfBlockP99Ms: rounded(quantile(own(0.99), 0.5)),
  };
}

function difference(took: Latency, base: Latency): Latency {
  return {
    p50Ms: rounded(took.p50Ms - base.p50Ms),
    p99Ms: rounded(took.p99Ms - base.p99Ms),
    medianOfBlockP99Ms: rounded(took.medianOfBlockP99Ms - base.medianOfBlockP99Ms),
  };
}
