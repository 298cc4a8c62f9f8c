import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeNodePressure } from '#shared/api/node-pressure.ts';
import { encodeNodePressure } from '#shared/api/node-pressure.ts';
import {
  isFresh,
  isSameOwner,
  lastingEntries,
  type NodePressureStatus,
  worstSignal,
} from '#shared/api/node-pressure.ts';

const NOW = Date.UTC(2026, 0, 1);
const SECOND = 1000;

const word = fc.stringMatching(/^[a-z][a-z0-9.-]{0,20}$/);
const time = fc.integer({ min: 0, max: 2 ** 41 }).map((at) => new Date(at).toISOString());
const mode = fc.constantFrom('DryRun', 'Enforce');
const facts = fc.dictionary(word, fc.oneof(fc.string(), fc.integer(), fc.boolean()), { maxKeys: 5 });
const because = fc.record({ code: word, text: word, facts });
const pod = fc.tuple(word, word).map((names) => names.join('/'));

const owner = fc.record(
  { namespace: word, kind: word, name: word, uid: fc.uuid() },
  { requiredKeys: ['namespace', 'kind', 'name'] },
);
const avoid = fc.record({
  owner,
  until: time,
  cause: word,
  hard: fc.boolean(),
});
const preemptionLoop = fc
  .record(
    {
      preemptor: owner,
      victim: owner,
      preemptorUid: fc.uuid(),
      rounds: fc.array(time, { minLength: 1, maxLength: 16 }).map((times) => times.toSorted()),
      action: fc.constantFrom('Report', 'Refuse', 'Avoid'),
    },
    { requiredKeys: ['preemptor', 'victim', 'rounds'] },
  )
  .map((entry) => ({ ...entry, until: entry.rounds.at(-1) }));
const condition = fc.record(
  {
    type: word,
    status: fc.constantFrom('True', 'False', 'Unknown'),
    reason: word,
    message: word,
    lastTransitionTime: time,
  },
  { requiredKeys: ['type', 'status', 'reason', 'message'] },
);
const signal = fc.record(
  {
    name: word,
    available: word,
    reclaimable: word,
    figure: fc.constantFrom('Reclaimable', 'Kubelet'),
    capacity: word,
    threshold: word,
    state: fc.constantFrom('Far', 'Near', 'Soft', 'Hard'),
    since: time,
    observedAt: time,
  },
  { requiredKeys: ['name', 'state'] },
);
const next = fc.record(
  { pod, uid: fc.uuid(), priority: fc.integer(), usage: word, request: word, because },
  { requiredKeys: ['pod', 'uid', 'because'] },
);
const eviction = fc.record(
  {
    pod,
    uid: fc.uuid(),
    owner: fc.tuple(word, word, word).map((names) => names.join('/')),
    signal: word,
    stage: word,
    outcome: fc.tuple(word, mode).map(([outcome, as]) => (as === 'DryRun' ? `${outcome} (dry run)` : outcome)),
    requestedAt: time,
    endedAt: time,
    because,
  },
  { requiredKeys: ['pod', 'uid', 'signal', 'stage', 'outcome', 'because'] },
);
const percent = fc.integer({ min: 0, max: 100 });
const figures = fc.record(
  {
    ...{ pod, uid: fc.uuid(), cpu: word, memory: word },
    waiting: fc.record({ cpu: percent, memory: percent, io: percent }, { requiredKeys: [] }),
    oomKills: fc.nat(),
  },
  { requiredKeys: ['pod', 'uid', 'waiting'] },
);
const rule = fc.record(
  { rule: word, confirmed: fc.boolean(), policy: word, generation: fc.nat() },
  { requiredKeys: ['rule', 'confirmed'] },
);
const status = fc.record(
  {
    observedAt: time,
    observedGeneration: fc.nat(),
    mode,
    policy: word,
    agent: fc.record({ version: word, pod }),
    conditions: fc.array(condition, { maxLength: 16 }),
    signals: fc.array(signal, { maxLength: 32 }),
    next: fc.array(next, { maxLength: 10 }),
    evictions: fc.array(eviction, { maxLength: 32 }),
    pods: fc.array(figures, { maxLength: 20 }),
    rules: fc.array(rule, { maxLength: 32 }),
  },
  { requiredKeys: ['mode', 'conditions', 'signals', 'next', 'evictions'] },
);
const nodePressure = fc.record(
  {
    apiVersion: fc.constant('plimsoll.dev/v1alpha1'),
    kind: fc.constant('NodePressure'),
    metadata: fc.record({ name: word, resourceVersion: word }, { requiredKeys: ['name'] }),
    spec: fc.oneof(
      fc.record({ avoid: fc.array(avoid, { minLength: 1, maxLength: 64 }) }),
      fc.record({ preemptionLoops: fc.array(preemptionLoop, { minLength: 1, maxLength: 10 }) }),
    ),
    status,
  },
  { requiredKeys: ['apiVersion', 'kind', 'metadata'] },
);

describe('decodeNodePressure and encodeNodePressure', () => {
  test('an object that is read and written again is the same', () => {
    fc.assert(
      fc.property(nodePressure, (object) => {
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
    { ageSeconds: 180, state: 'Near', fresh: true },
    { ageSeconds: 181, state: 'Far', fresh: false },
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
