import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodeNodePressure,
  encodeNodePressure,
  isFresh,
  isSameOwner,
  lastingEntries,
  type NodePressureStatus,
  worstSignal,
} from '#shared/api/node-pressure.ts';
import { nodePressures } from './node-pressures.ts';

const NOW = Date.UTC(2026, 0, 1);
const SECOND = 1000;

describe('decodeNodePressure and encodeNodePressure', () => {
  test('an object that is read and written again is the same', () => {
    fc.assert(
      fc.property(nodePressures, (object) => {
        expect(encodeNodePressure(decodeNodePressure(object))).toEqual(object);
      }),
      { seed: 15, numRuns: 200 },
    );
  });

  test('no value makes reading throw or grow beyond the bounds', () => {
    fc.assert(
      fc.property(fc.anything(), fc.array(fc.anything(), { maxLength: 80 }), (some, list) => {
        const read = decodeNodePressure({
          metadata: some,
          spec: { avoid: list, preemptionLoops: list },
          status: { evictions: list },
        });
        expect(read.preemptionLoops.length).toBeLessThanOrEqual(10);
        expect(read.avoid.length).toBeLessThanOrEqual(64);
        expect(read.status?.evictions.length).toBeLessThanOrEqual(32);
        expect(decodeNodePressure(some).name.length).toBeLessThanOrEqual(253);
      }),
      { seed: 15, numRuns: 300 },
    );
  });

  test('more entries than the object may hold are left out', () => {
    const entry = { owner: { namespace: 'a', kind: 'Job', name: 'b' }, until: '2026-01-01T00:00:00Z' };
    const read = decodeNodePressure({ spec: { avoid: Array.from({ length: 100 }, () => entry) } });
    expect(read.avoid).toHaveLength(64);
  });

  test.each([
    ['namespace', 'n'.repeat(63), 'K', 'x'],
    ['kind', 'n', 'K'.repeat(253), 'x'],
    ['name', 'n', 'K', 'x'.repeat(253)],
  ])('an eviction names its owner only if the %s fits an avoid entry', (field, namespace, kind, name) => {
    const owner = { namespace, kind, name };
    const tooLong = { ...owner, [field]: owner[field as 'name'] + 'x' };
    const evictions = [owner, tooLong].map((each) => ({
      pod: 'a/x',
      uid: '1',
      owner: `${each.namespace}/${each.kind}/${each.name}`,
    }));
    const read = decodeNodePressure({ status: { evictions } }).status?.evictions;
    expect(read?.map((one) => one.owner)).toEqual([{ ...owner, uid: undefined }, undefined]);
  });

  test('an avoid entry without an owner or a time is left out', () => {
    const owner = { namespace: 'a', kind: 'ReplicaSet', name: 'web' };
    const entries = [{ owner }, { owner, until: 'soon' }, { until: '2026-01-01T00:00:00Z' }, 7, null];
    expect(decodeNodePressure({ spec: { avoid: entries } }).avoid).toEqual([]);
  });

  test('a signal in an unknown state does not count as far', () => {
    const signals = [{ name: 'memory.available', state: 'Sideways' }];
    expect(decodeNodePressure({ status: { signals } }).status?.signals).toEqual([]);
  });

  test('a status without a mode is a dry run', () => {
    expect(decodeNodePressure({ status: {} }).status?.mode).toBe('DryRun');
  });

  test('an eviction of a dry run says so, and its outcome is that of the attempt', () => {
    const evictions = [
      { pod: 'a/x', uid: '1', owner: 'a/ReplicaSet/web', outcome: 'pretended (dry run)' },
      { pod: 'a/y', uid: '2', outcome: 'evicted' },
    ];
    const read = decodeNodePressure({ status: { evictions } }).status?.evictions;
    expect(read?.map((one) => [one.mode, one.outcome, one.owner])).toEqual([
      ['DryRun', 'pretended', { namespace: 'a', kind: 'ReplicaSet', name: 'web', uid: undefined }],
      ['Enforce', 'evicted', undefined],
    ]);
  });
});

describe('isFresh', () => {
  const seen = (ageSeconds: number, state: string, name = 'memory.available'): NodePressureStatus | undefined => {
    const observedAt = new Date(NOW - ageSeconds * SECOND).toISOString();
    return decodeNodePressure({ status: { observedAt, signals: [{ name, state }] } }).status;
  };

  test.each([
    { ageSeconds: 60, state: 'Hard', fresh: true },
    { ageSeconds: 61, state: 'Hard', fresh: false },
    { ageSeconds: 61, state: 'Soft', fresh: false },
    { ageSeconds: 420, state: 'Near', fresh: true },
    { ageSeconds: 421, state: 'Far', fresh: false },
    { ageSeconds: -60, state: 'Far', fresh: true },
    { ageSeconds: -61, state: 'Far', fresh: false },
  ])('$state observed $ageSeconds s ago: $fresh', ({ ageSeconds, state, fresh }) => {
    expect(isFresh(seen(ageSeconds, state), NOW)).toBe(fresh);
  });

  test('idle CPU below its limit does not shorten it', () => {
    expect(isFresh(seen(100, 'Soft', 'cpu.available'), NOW)).toBe(true);
  });

  test('no status, or one without a time, is unknown', () => {
    expect(isFresh(undefined, NOW)).toBe(false);
    expect(isFresh(decodeNodePressure({ status: {} }).status, NOW)).toBe(false);
  });
});

describe('worstSignal', () => {
  const worst = (...signals: readonly (readonly [name: string, state: string])[]) => {
    const { status } = decodeNodePressure({ status: { signals: signals.map(([name, state]) => ({ name, state })) } });
    return worstSignal(status?.signals ?? [])?.name;
  };

  test.each([
    [
      'the worst state',
      [
        ['pid.available', 'Near'],
        ['nodefs.available', 'Hard'],
        ['memory.available', 'Soft'],
      ],
      'nodefs.available',
    ],
    [
      'memory among equals',
      [
        ['pid.available', 'Soft'],
        ['memory.available', 'Soft'],
      ],
      'memory.available',
    ],
    [
      'else the first',
      [
        ['pid.available', 'Near'],
        ['nodefs.available', 'Near'],
      ],
      'pid.available',
    ],
    [
      'never CPU',
      [
        ['cpu.available', 'Soft'],
        ['cpu.pressure', 'Hard'],
        ['pid.available', 'Far'],
      ],
      'pid.available',
    ],
    ['none without signals', [], undefined],
  ] as const)('%s', (_sentence, signals, name) => {
    expect(worst(...signals)).toBe(name);
  });
});

describe('avoid entries', () => {
  const owner = { namespace: 'a', kind: 'ReplicaSet', name: 'web', uid: 'u1' };

  test('one that ends now no longer lasts', () => {
    const entry = { owner, cause: '', hard: false };
    const avoid = [
      { ...entry, until: NOW },
      { ...entry, until: NOW + 1 },
    ];
    expect(lastingEntries({ avoid }, NOW)).toEqual([{ ...entry, until: NOW + 1 }]);
  });

  test('owners are compared by UID where both have one', () => {
    expect(isSameOwner(owner, { ...owner, uid: undefined })).toBe(true);
    expect(isSameOwner(owner, { ...owner, uid: 'u2' })).toBe(false);
    expect(isSameOwner(owner, { ...owner, kind: 'Job' })).toBe(false);
  });
});
