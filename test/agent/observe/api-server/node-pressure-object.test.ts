import { describe, expect, test } from 'vitest';
import { readNodePressure } from '#agent/observe/api-server/node-pressure-object.ts';

const OWNER = { namespace: 'default', kind: 'ReplicaSet', name: 'a' };
const because = { code: 'HardThresholdMet', text: 'short', facts: { available: '50Mi' } };

describe('readNodePressure', () => {
  test('reads the avoid entries and the recorded evictions', () => {
    const raw = {
      metadata: { name: 'n1' },
      spec: { avoid: [{ owner: OWNER, until: '2026-01-01T00:10:00Z', cause: 'x', hard: true }] },
      status: {
        conditions: [{ type: 'Memory', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z', reason: 'x' }],
        signals: [{ name: 'memory.available', state: 'Hard', since: '2026-01-01T00:00:00Z' }],
        evictions: [
          {
            pod: 'default/hog',
            uid: 'uid-hog',
            owner: 'default/ReplicaSet/a',
            signal: 'cpu.pressure',
            stage: 'mild',
            outcome: 'pretended (dry run)',
            requestedAt: '2026-01-01T00:00:00Z',
            because,
          },
        ],
      },
    };
    expect(readNodePressure(raw)).toEqual({
      avoid: [{ owner: OWNER, until: Date.UTC(2026, 0, 1, 0, 10), cause: 'x', hard: true }],
      status: {
        conditions: [
          { type: 'Memory', status: 'True', reason: 'x', message: '', lastTransitionTime: Date.UTC(2026, 0, 1) },
        ],
        signals: [{ name: 'memory.available', state: 'Hard', since: Date.UTC(2026, 0, 1) }],
        evictions: [
          {
            pod: { namespace: 'default', name: 'hog', uid: 'uid-hog' },
            owner: OWNER,
            signal: 'cpu.pressure',
            stage: 'mild',
            mode: 'DryRun',
            outcome: 'pretended',
            requestedAt: Date.UTC(2026, 0, 1),
            endedAt: undefined,
            because,
          },
        ],
      },
    });
  });

  test('an object that says nothing yet', () => {
    expect(readNodePressure({ metadata: { name: 'n1' } })).toEqual({
      avoid: [],
      status: { conditions: [], signals: [], evictions: [] },
    });
  });

  test('an entry that cannot be read is left out, and the rest stays', () => {
    const avoid = [{ owner: OWNER, until: 'soon' }];
    const evictions = [{ pod: 7 }, { pod: 'default/hog', uid: 'uid-hog', outcome: 'evicted' }];
    const read = readNodePressure({ metadata: { name: 'n1' }, spec: { avoid }, status: { evictions } });
    expect(read.avoid).toEqual([]);
    expect(read.status.evictions.map(({ pod }) => pod.uid)).toEqual(['uid-hog']);
  });
});
