import { describe, expect, test } from 'vitest';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { decide } from '#shared/decide/eviction/decide.ts';
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
    const answered = noteOutcome(asked, { uid: 'uid-hog', mode: 'Enforce' }, 'evicted');
    expect(noteEnds(answered, decision.state, 9)).toBe(answered);
    expect(noteEnds(answered, FIRST_STATE, 9)).toMatchObject([{ outcome: 'evicted', endedAt: 9 }]);
  });
});
