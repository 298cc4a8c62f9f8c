import { describe, expect, test } from 'vitest';
import { quantityFromMilli } from '#shared/domain/model/quantity.ts';
import { observe } from '#shared/domain/pressure/observation.ts';
import { NO_RECLAIM_RATES, type ReclaimRates } from '#agent/decide/node-view.ts';
import { type PodStrain, NO_STRAINS } from '#agent/decide/pod-strain.ts';
import { proveShortage, type UsageEvidence } from '#agent/decide/stall-evidence.ts';
import { CPU_SHORTAGE, MEMORY_SHORTAGE } from '#agent/policy/stall-rule.ts';
import { memoryReadings } from '#test/agent/node-scene.ts';

const NOTHING: UsageEvidence = {
  memory: undefined,
  cpu: undefined,
  reclaim: NO_RECLAIM_RATES,
  strains: NO_STRAINS,
};

function strain(changes: Partial<PodStrain>): PodStrain {
  return { waiting: {}, stalled: {}, ...changes };
}

function strains(...all: readonly Partial<PodStrain>[]) {
  return new Map(all.map((changes, index) => [`uid-${index}`, strain(changes)]));
}

describe('proveShortage of memory', () => {
  const withMemory = (availableMiB: number, reclaim: Partial<ReclaimRates>, seen = NO_STRAINS): UsageEvidence => ({
    ...NOTHING,
    memory: observe(memoryReadings(availableMiB, 1000, 0)).get('memory.available'),
    reclaim: { ...NO_RECLAIM_RATES, ...reclaim },
    strains: seen,
  });
  const atItsLimit = strains({ limitHitsPerSecond: 500, waiting: { memory: 0.9 } });

  test.each<[sentence: string, evidence: UsageEvidence, isProven: boolean]>([
    ['nothing is known', NOTHING, false],
    ['gigabytes are free, whatever waits', withMemory(500, { scanned: 9000, refaulted: 9000 }), false],
    ['little is left and the kernel looks for pages', withMemory(50, { scanned: 100, refaulted: 0 }), true],
    ['little is left and pages come back', withMemory(50, { scanned: 0, refaulted: 100 }), true],
    ['little is left and pages come from swap', withMemory(50, { scanned: 0, refaulted: 0, swappedIn: 3 }), true],
    ['little is left, but nobody misses anything', withMemory(50, { scanned: 0, refaulted: 0, swappedIn: 0 }), false],
    ['pages come back to a pod at its own limit', withMemory(50, { scanned: 0, refaulted: 100 }, atItsLimit), false],
    ['a pod is at its limit and the node is short too', withMemory(50, { scanned: 9, refaulted: 9 }, atItsLimit), true],
    ['a source that counts none of it leaves it to what is left', withMemory(50, {}), true],
  ])('%s', (_sentence, evidence, isProven) => {
    expect(proveShortage(MEMORY_SHORTAGE, evidence) !== undefined).toBe(isProven);
  });

  test('the proof carries its numbers', () => {
    expect(proveShortage(MEMORY_SHORTAGE, withMemory(50, { scanned: 12.4, refaulted: 7 }))).toEqual({
      availableShare: 0.05,
      scannedPerSecond: 12,
      refaultedPerSecond: 7,
    });
  });
});

describe('proveShortage of CPU', () => {
  const withCpu = (availableCores: number, seen = NO_STRAINS): UsageEvidence => ({
    ...NOTHING,
    cpu: { availableCores, cores: 4 },
    strains: seen,
  });
  const throttled = { throttled: 0.6, waiting: { cpu: 0.6 } };
  const waiting = { throttled: 0, waiting: { cpu: 0.3 } };
  const idle = { throttled: 0, waiting: { cpu: 0 } };

  test.each<[sentence: string, evidence: UsageEvidence, isProven: boolean]>([
    ['nothing is known', NOTHING, false],
    ['cores are idle, whatever waits', withCpu(2, strains(waiting)), false],
    ['all cores are busy', withCpu(0.1), true],
    ['only a pod at its own limit waits', withCpu(0.1, strains(throttled, idle)), false],
    ['somebody waits whom no limit holds back', withCpu(0.1, strains(throttled, waiting)), true],
    ['a little throttling is how limits work', withCpu(0.1, strains({ throttled: 0.05, waiting: { cpu: 0.2 } })), true],
  ])('%s', (_sentence, evidence, isProven) => {
    expect(proveShortage(CPU_SHORTAGE, evidence) !== undefined).toBe(isProven);
  });

  test('the limit may be an amount of cores', () => {
    const half = {
      signal: 'cpu.available',
      below: { kind: 'amount', amount: quantityFromMilli(500, 'DecimalSI') },
    } as const;
    expect(proveShortage(half, withCpu(0.4))).toEqual({ availableShare: 0.1, throttledPods: 0 });
    expect(proveShortage(half, withCpu(0.6))).toBeUndefined();
  });
});
