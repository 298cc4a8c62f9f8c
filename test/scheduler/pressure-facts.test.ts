import { describe, expect, test } from 'vitest';
import { decodeNodePressure } from '#shared/api/node-pressure.ts';
import { pressureFacts } from '#scheduler/cluster-view.ts';

const because = { code: 'x', text: 'x', facts: {} };
const signal = (name: string, state: string) => ({ name, state });
const eviction = (uid: string, changes: object = {}) => ({
  pod: `a/${uid}`,
  uid,
  outcome: 'evicted',
  requestedAt: '2026-01-01T00:00:00Z',
  because,
  ...changes,
});

function factsOf(status: object, avoid: readonly object[] = []) {
  return pressureFacts(decodeNodePressure({ metadata: { name: 'n0' }, spec: { avoid }, status }));
}

describe('pressureFacts', () => {
  test.each<[string, readonly object[], string | undefined]>([
    ['the worst signal counts', [signal('memory.available', 'Soft'), signal('nodefs.available', 'Hard')], 'Hard'],
    ['one that is near does not', [signal('memory.available', 'Near')], undefined],
    ['CPU does not', [signal('cpu.available', 'Hard'), signal('cpu.pressure', 'Hard')], undefined],
  ])('%s', (_, signals, pressure) => {
    expect(factsOf({ signals }).pressure).toBe(pressure);
  });

  test('what the agent measures of single pods: milli of cpu, bytes, percent', () => {
    const pods = [
      { pod: 'a/x', uid: 'x', cpu: '250m', memory: '1Ki', waiting: { cpu: 40 }, oomKills: 2 },
      { pod: 'a/y', uid: 'y', memory: 'much' },
    ];
    expect(factsOf({ pods }).pods).toEqual(
      new Map([
        ['x', { cpu: 250, memory: 1_024, waiting: { cpu: 40 }, oomKills: 2 }],
        ['y', { waiting: {} }],
      ]),
    );
    expect(factsOf({}).pods).toBeUndefined();
  });

  test('pods above their request', () => {
    const next = [
      { pod: 'a/over', uid: 'over', usage: '2Gi', request: '1Gi', because },
      { pod: 'a/at', uid: 'at', usage: '1Gi', request: '1Gi', because },
      { pod: 'a/unmeasured', uid: 'unmeasured', request: '0', because },
      { pod: 'a/none', uid: 'none', usage: '1', request: '0', because },
    ];
    expect([...factsOf({ next }).overRequest]).toEqual(['over', 'none']);
  });

  test('evictions that the API server accepted and whose pods have not ended', () => {
    const evictions = [
      eviction('going'),
      eviction('found', { outcome: 'foundEnding' }),
      eviction('over', { endedAt: '2026-01-01T00:00:00Z' }),
      eviction('refused', { outcome: 'tooManyRequests' }),
      eviction('pretended', { outcome: 'evicted (dry run)' }),
    ];
    expect(evictingAt('2026-01-01T00:01:00Z', evictions)).toEqual(['going', 'found']);
  });

  test.each<[string, string, object]>([
    ['more than a minute before the report', '2026-01-01T00:01:01Z', {}],
    ['more than a minute after it', '2025-12-31T23:58:59Z', {}],
    ['at no known time', '2026-01-01T00:00:00Z', { requestedAt: undefined }],
  ])('an eviction that was requested %s does not count: its pod would be terminating', (_, observedAt, changes) => {
    expect(evictingAt(observedAt, [eviction('old', changes)])).toEqual([]);
  });

  function evictingAt(observedAt: string, evictions: readonly object[]): readonly string[] {
    return [...factsOf({ observedAt, evictions }).evicting];
  }

  test('owners to avoid, and since when', () => {
    const owner = { namespace: 'shop', kind: 'ReplicaSet', name: 'web', uid: 'u1' };
    const avoid = [{ owner, until: '1970-01-01T00:00:05Z', cause: 'x', hard: true }];
    expect(factsOf({ observedAt: '1970-01-01T00:00:01Z', mode: 'Enforce' }, avoid)).toMatchObject({
      node: 'n0',
      observedAt: 1_000,
      isEnforced: true,
      avoid: [{ owner, until: 5_000, isHard: true }],
    });
  });

  test('no status is no observation', () => {
    expect(factsOf({})).toMatchObject({ observedAt: undefined, isEnforced: false, pressure: undefined });
  });
});
