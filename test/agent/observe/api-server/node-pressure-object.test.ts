import { describe, expect, test } from 'vitest';
import { decodeNodePressure } from '#agent/observe/api-server/node-pressure-object.ts';

const because = { code: 'HardThresholdMet', text: 'short', facts: { available: '50Mi' } };

describe('decodeNodePressure', () => {
  test('reads the avoid entries and the recorded evictions', () => {
    const raw = {
      metadata: { name: 'n1' },
      spec: { avoid: [{ owner: 'default/ReplicaSet/a', until: '2026-01-01T00:10:00Z', cause: 'x', hard: true }] },
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
    expect(decodeNodePressure(raw)).toEqual({
      avoid: [{ owner: 'default/ReplicaSet/a', until: Date.UTC(2026, 0, 1, 0, 10) }],
      status: {
        conditions: [{ type: 'Memory', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
        signals: [{ name: 'memory.available', state: 'Hard', since: '2026-01-01T00:00:00Z' }],
        evictions: [
          {
            pod: { namespace: 'default', name: 'hog', uid: 'uid-hog' },
            owner: 'default/ReplicaSet/a',
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
    expect(decodeNodePressure({ metadata: { name: 'n1' } })).toEqual({
      avoid: [],
      status: { conditions: [], signals: [], evictions: [] },
    });
  });

  test('one that cannot be read is refused with its field', () => {
    const raw = { metadata: { name: 'n1' }, spec: { avoid: [{ owner: 'a', until: 'soon' }] } };
    expect(() => decodeNodePressure(raw)).toThrow(
      'cannot read NodePressure "n1": spec.avoid[0].until: expected a time',
    );
  });
});
