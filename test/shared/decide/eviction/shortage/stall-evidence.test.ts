import { describe, expect, test } from 'vitest';
import { quantityFromMilli } from '#shared/domain/quantity/quantity.ts';
import { observe } from '#shared/domain/pressure/signal.ts';
import {
  NO_RECLAIM_RATES,
  type ReclaimRates,
  type PodPressure,
  NO_POD_PRESSURES,
} from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { proveShortage, type UsageEvidence } from '#shared/decide/eviction/shortage/advance-stalls.ts';
import { CPU_SHORTAGE, MEMORY_SHORTAGE } from '#shared/api/node-pressure-policy/policy.ts';
import { memoryReadings, MIB } from '#test/agent/node-scene.ts';

const NOTHING: UsageEvidence = {
  memory: undefined,
  cpu: undefined,
  reclaim: NO_RECLAIM_RATES,
  podPressures: NO_POD_PRESSURES,
};

function podPressure(changes: Partial<PodPressure>): PodPressure {
  return { waiting: {}, stalled: {}, ...changes };
}

function podPressures(...all: readonly Partial<PodPressure>[]) {
  return new Map(all.map((changes, index) => [`uid-${index}`, podPressure(changes)]));
}

/** MiB a second, of a node of 1000 MiB. */
function rates(scanned: number, stolen: number, refaulted = 0, swappedIn = 0): ReclaimRates {
  return { scanned: scanned * MIB, stolen: stolen * MIB, refaulted: refaulted * MIB, swappedIn: swappedIn * MIB };
}

describe('proveShortage of memory', () => {
  const withMemory = (availableMiB: number, reclaim: ReclaimRates, seen = NO_POD_PRESSURES): UsageEvidence => ({
    ...NOTHING,
    memory: observe(memoryReadings(availableMiB, 1000, 0)).get('memory.available'),
    reclaim,
    podPressures: seen,
  });
  const atItsLimit = { limitHitsPerSecond: 500, waiting: { memory: 0.9 } };
  const patient = { limitHitsPerSecond: 0, waiting: { memory: 0.02 } };
  const suffering = { limitHitsPerSecond: 0, waiting: { memory: 0.2 } };
  const short = rates(40, 20, 10);

  test.each<[sentence: string, evidence: UsageEvidence, isProven: boolean]>([
    ['nothing is known', NOTHING, false],
    ['gigabytes are free, whatever waits', withMemory(500, rates(900, 100, 900)), false],
    ['little is left and the kernel searches hard, half of it in vain', withMemory(50, short), true],
    ['it searches, but less in ten seconds than is left', withMemory(90, rates(8, 4, 4)), false],
    ['the kernel scans as much as is available in ten seconds', withMemory(90, rates(9, 4, 4)), true],
    ['a file is read: all scanned pages are reclaimed', withMemory(50, rates(60, 60)), false],
    ['all is given up, but wanted back', withMemory(50, rates(60, 60, 6)), true],
    ['pages come from swap', withMemory(50, rates(60, 60, 0, 6)), true],
    ['the kernel scans nothing, though a cgroup at its limit refaults', withMemory(50, rates(0, 0, 100)), false],
    ['a source that counts none of it proves nothing', withMemory(50, NO_RECLAIM_RATES), false],
    ['only a pod at its own limit waits', withMemory(50, short, podPressures(atItsLimit, patient)), false],
    ['another pod waits as well', withMemory(50, short, podPressures(atItsLimit, suffering)), true],
    ['no pod is at its limit', withMemory(50, short, podPressures(patient)), true],
  ])('%s', (_sentence, evidence, isProven) => {
    expect(proveShortage(MEMORY_SHORTAGE, evidence) !== undefined).toBe(isProven);
  });

  test('the proof carries its numbers', () => {
    expect(proveShortage(MEMORY_SHORTAGE, withMemory(50, short, podPressures(atItsLimit, suffering)))).toEqual({
      availableShare: 0.05,
      searchedMiBPerSecond: 40,
      lostMiBPerSecond: 30,
      podsAtLimit: 1,
    });
  });
});

describe('proveShortage of CPU', () => {
  const withCpu = (availableCores: number, seen = NO_POD_PRESSURES): UsageEvidence => ({
    ...NOTHING,
    cpu: { availableCores, cores: 4 },
    podPressures: seen,
  });
  const throttled = { throttled: 0.6, waiting: { cpu: 0.6 } };
  const waiting = { throttled: 0, waiting: { cpu: 0.3 } };
  const idle = { throttled: 0, waiting: { cpu: 0.05 } };

  test.each<[sentence: string, evidence: UsageEvidence, isProven: boolean]>([
    ['nothing is known', NOTHING, false],
    ['cores are idle, whatever waits', withCpu(2, podPressures(waiting)), false],
    ['all cores are busy', withCpu(0.1), true],
    ['only a pod at its own limit waits, others hardly', withCpu(0.1, podPressures(throttled, idle)), false],
    ['a pod stalls that no limit holds back', withCpu(0.1, podPressures(throttled, waiting)), true],
    [
      'a little throttling is how limits work',
      withCpu(0.1, podPressures({ throttled: 0.05, waiting: { cpu: 0.2 } })),
      true,
    ],
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
