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
});
