import { describe, expect, test } from 'vitest';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import type { AttemptOutcome } from '#shared/decide/eviction/apply-outcome.ts';
import { decide, type EvictionRecord, restoreState } from '#shared/decide/eviction/decide.ts';
import { noteEnds, noteOutcome, noteRequest } from '#agent/report/reporter.ts';
import { snapshot, type NodePod, policy } from '#test/agent/node-scene.ts';

const hog: NodePod = { name: 'hog', requests: { memory: '100Mi' }, usageMiB: 500 };

describe('eviction records', () => {
  test('follow one eviction from request to end', () => {
    const decision = decide(
      FIRST_STATE,
      snapshot({ now: 0, availableMiB: 10, pods: [{ ...hog, owner: 'rs' }] }),
      policy(),
    );
    const [eviction] = decision.evictions;
    if (eviction === undefined) throw new Error('no pod was evicted');
    const asked = noteRequest([], eviction, 7);
    expect(asked).toMatchObject([
      {
        owner: { namespace: 'default', kind: 'ReplicaSet', name: 'rs' },
        outcome: 'requested',
        requestedAt: 7,
        endedAt: undefined,
      },
    ]);
    expect(asked[0]?.because).toEqual({
      code: 'HardThresholdMet',
      text: 'memory.available is 10Mi, below the hard threshold of 100Mi; the pod uses 500Mi memory, over its request of 100Mi, priority 0',
      facts: expect.objectContaining({
        usage: '500Mi',
        request: '100Mi',
        exceedsRequest: true,
        priority: 0,
      }) as unknown,
    });
    const answered = noteOutcome(asked, { uid: 'uid-hog', mode: 'Enforce' }, 'evicted');
    expect(noteEnds(answered, decision.state, 9)).toBe(answered);
    expect(noteEnds(answered, FIRST_STATE, 9)).toMatchObject([{ outcome: 'evicted', endedAt: 9 }]);
  });

  /** Records after attempts on pods, oldest first. */
  function recordsOf(attempts: readonly (readonly [name: string, outcome: AttemptOutcome['kind']])[]) {
    return attempts.reduce((records: readonly EvictionRecord[], [name, outcome], at) => {
      const scene = snapshot({ now: 0, availableMiB: 10, pods: [{ ...hog, name }] });
      const [eviction] = decide(FIRST_STATE, scene, policy()).evictions;
      if (eviction === undefined) throw new Error('no pod was evicted');
      return noteOutcome(noteRequest(records, eviction, at), { uid: `uid-${name}`, mode: 'Enforce' }, outcome);
    }, []);
  }
  const shown = (records: readonly EvictionRecord[]) =>
    records.map(({ pod: { name }, outcome }) => `${name} ${outcome}`);

  test('name a pod once that is asked for again, with its last outcome', () => {
    const attempts = [
      ['first', 'relieved'],
      ['second', 'evicted'],
      ['first', 'evicted'],
    ] as const;
    expect(shown(recordsOf(attempts))).toEqual(['first evicted', 'second evicted']);
  });

  test('keep what the windows count, however many attempts are refused', () => {
    const refused = Array.from({ length: 40 }, (_, index) => [`vm-${index}`, 'tooManyRequests'] as const);
    const again = Array.from({ length: 40 }, () => ['held', 'tooManyRequests'] as const);
    const records = recordsOf([['gone', 'evicted'], ...refused, ...again]);
    expect(records).toHaveLength(20);
    expect(shown(records)).toEqual(
      expect.arrayContaining(['gone evicted', 'held tooManyRequests', 'vm-39 tooManyRequests']),
    );
    const { past } = restoreState(FIRST_STATE, records, { wallOffsetMs: 0, now: 90 }).evictions.Enforce;
    expect(past.map(({ uid }) => uid)).toEqual(['uid-gone']);
  });

  test('keep the newest of those that took effect', () => {
    const evicted = Array.from({ length: 25 }, (_, index) => [`pod-${index}`, 'evicted'] as const);
    expect(shown(recordsOf(evicted)).at(-1)).toBe('pod-5 evicted');
  });
});
