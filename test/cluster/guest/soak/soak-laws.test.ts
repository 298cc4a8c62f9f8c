import { describe, expect, test } from 'vitest';
import { brokenLaws, type Evidence, type Sample, type StatedReason } from './soak-laws.ts';
import { statedReasons } from './stated-reasons.ts';

const AT_MS = 20_000;
const TOTAL_MIB = 1400;
const REASON: StatedReason = {
  atMs: AT_MS + 20,
  pod: 'busy',
  code: 'HardThresholdMet',
  signal: 'memory.available',
  availableMiB: 240,
  kubeletMiB: 500,
  thresholdMiB: 250,
  stalledShare: undefined,
};
const STALL: StatedReason = { ...REASON, code: 'StallsWithShortage', signal: 'memory.pressure', stalledShare: 0.3 };

/** Looks every 100 ms; all tasks wait for three tenths of the time. */
function samples(memAvailableMiB: number): readonly Sample[] {
  return Array.from({ length: 201 }, (_, index) => {
    const atMs = index * 100;
    return { atMs, memAvailableMiB, kubeletMiB: 500, unwrittenMiB: 4, stalledMs: atMs * 0.3 };
  });
}

function lawsBroken(changes: Partial<Evidence>, pod = 'busy'): readonly string[] {
  const usual = {
    samples: samples(240),
    stated: [REASON],
    totalMiB: TOTAL_MIB,
    protectedPods: ['dns'],
    culprit: 'busy',
  };
  return brokenLaws({ atMs: AT_MS, pod }, { ...usual, ...changes });
}

describe('the laws of a soak', () => {
  test('the pod that takes the memory may go for a reason that the figures confirm', () => {
    expect(lawsBroken({})).toEqual([]);
    expect(lawsBroken({ samples: samples(120), stated: [{ ...STALL, availableMiB: 120 }] })).toEqual([]);
  });

  test('a protected pod may not', () => {
    const stated = [{ ...REASON, pod: 'dns' }];
    expect(lawsBroken({ stated, culprit: 'dns' }, 'dns')).toEqual(['no protected pod goes']);
  });

  test('another pod may not, unless any may', () => {
    expect(lawsBroken({ culprit: undefined })).toEqual([]);
    expect(lawsBroken({ culprit: 'other' })).toEqual(['no other pod goes than the one that takes the memory']);
  });

  test.each([
    ['for memory', 251, { ...REASON, availableMiB: 249 }],
    ['for waiting', 141, { ...STALL, availableMiB: 141 }],
  ])('none may while memory can be had: %s', (_name, leftMiB, reason) => {
    expect(lawsBroken({ samples: samples(leftMiB), stated: [reason] })).toEqual([
      'no pod goes while memory can be had',
    ]);
  });

  test.each<readonly [string, readonly StatedReason[]]>([
    ['nothing was said', []],
    ['it was said before', [{ ...REASON, atMs: AT_MS - 1 }]],
    ['of another pod', [{ ...REASON, pod: 'other' }]],
    ['with less than was left', [{ ...REASON, availableMiB: 200 }]],
    ['with another figure of the kubelet', [{ ...REASON, kubeletMiB: 600 }]],
    ['without one', [{ ...REASON, kubeletMiB: undefined }]],
    ['by another threshold', [{ ...REASON, thresholdMiB: 300 }]],
    ['by more waiting than there was', [{ ...STALL, availableMiB: 240, stalledShare: 0.5 }]],
  ])('the reason must tell what was left: %s', (_name, stated) => {
    expect(lawsBroken({ stated })).toContain('the reason tells what was left');
  });

  test('without a look nothing is taken for true', () => {
    expect(lawsBroken({ samples: [] })).toContain('the memory was looked at');
  });
});

test('what an agent said is read from its log', () => {
  const time = new Date(performance.timeOrigin + AT_MS).toISOString();
  const facts = { signal: 'memory.available', available: '248836Ki', kubeletAvailable: '1Gi', threshold: '250Mi' };
  const line = { time, msg: 'Eviction answered', pod: { uid: 'busy' }, because: { code: 'HardThresholdMet', facts } };
  const [reason] = statedReasons(`growing\n${JSON.stringify(line)}\n{"msg":"Agent stopped"}\n`, TOTAL_MIB);
  expect(reason).toMatchObject({ pod: 'busy', availableMiB: 248_836 / 1024, kubeletMiB: 1024, thresholdMiB: 250 });
  expect(reason?.atMs).toBeCloseTo(AT_MS, -1);
});
