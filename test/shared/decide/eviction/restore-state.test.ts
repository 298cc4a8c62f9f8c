import { describe, expect, test } from 'vitest';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { restoreState, decide, type EvictionRecord } from '#shared/decide/eviction/decide.ts';
import { because, snapshot, type NodePod, policy, type Scene } from '#test/agent/node-scene.ts';

const WALL = Date.UTC(2026, 0, 1);

function record(secondsAgo: number, changes: Partial<EvictionRecord> = {}): EvictionRecord {
  return {
    pod: { namespace: 'default', name: 'old', uid: 'uid-old' },
    owner: { namespace: 'default', kind: 'ReplicaSet', name: 'a', uid: 'uid-a' },
    signal: 'memory.available',
    stage: 'severe',
    mode: 'Enforce',
    outcome: 'evicted',
    requestedAt: WALL - secondsAgo * 1000,
    endedAt: WALL,
    because: because('HardThresholdMet'),
    ...changes,
  };
}

const pods: readonly NodePod[] = ['a', 'b'].map((owner) => ({ name: owner, owner, usageMiB: 300 }));
const scene = (now: number): Scene => ({ now, availableMiB: 50, pods });

function codes(records: readonly EvictionRecord[], now = 0) {
  const state = restoreState(FIRST_STATE, records, { wallOffsetMs: WALL, now });
  const { evictions, assessment } = decide(state, snapshot(scene(now)), policy());
  return { evicted: evictions.map(({ pod }) => pod.name), closedGates: assessment.closedGates.map(({ code }) => code) };
}

describe('restoreState', () => {
  test('the windows of the previous process apply after a restart, so that a crash loop gains nothing', () => {
    expect(codes([record(20), record(40)])).toEqual({ evicted: [], closedGates: ['NodeLimit'] });
    expect(codes([record(20), record(70)])).toEqual({ evicted: ['b'], closedGates: [] });
  });

  test('a record from a clock that was eight hours ahead counts as of now, and no longer than any other', () => {
    const ahead = [record(-8 * 3600), record(-8 * 3600 - 1)];
    expect(codes(ahead).closedGates).toEqual(['NodeLimit']);
    const state = restoreState(FIRST_STATE, ahead, { wallOffsetMs: WALL, now: 0 });
    const later = decide(state, snapshot(scene(60_000)), policy());
    expect(later.evictions.length).toBe(1);
  });

  test('pods of an owner disrupted before the restart rank last when all else is equal', () => {
    expect(codes([])).toEqual({ evicted: ['a'], closedGates: [] });
    expect(codes([record(100)])).toEqual({ evicted: ['b'], closedGates: [] });
  });

  test('a refusal does not count, a missing answer does', () => {
    expect(codes([record(20, { outcome: 'forbidden' }), record(40, { outcome: 'notFound' })]).closedGates).toEqual([]);
    expect(codes([record(20, { outcome: 'requested' }), record(40, { outcome: 'pretended' })]).closedGates).toEqual([
      'NodeLimit',
    ]);
  });

  test('an owner with an avoid entry counts as disrupted just now', () => {
    const seen = snapshot({ ...scene(0), snapshot: { avoided: new Set(['default/ReplicaSet/a']) } });
    expect(decide(FIRST_STATE, seen, policy()).evictions.map(({ pod }) => pod.name)).toEqual(['b']);
  });
});
