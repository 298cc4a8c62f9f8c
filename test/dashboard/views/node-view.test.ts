import { describe, expect, test } from 'vitest';
import { nodeView } from '#dashboard/views/node-view.ts';
import { decodeNodePressure } from '#shared/api/node-pressure.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const BECAUSE = { code: 'ExceedsRequests', text: 'uses 300Mi more than it requests', facts: {} };

const STATUS = {
  observedAt: '2026-01-01T11:59:58Z',
  mode: 'Enforce',
  policy: 'default',
  agent: { version: '0.1.0', pod: 'plimsoll-node/agent' },
  conditions: [
    { type: 'Memory', status: 'True', reason: 'Pressure', message: 'memory.available is below 250Mi' },
    { type: 'Disk', status: 'Unknown', reason: 'NotMeasured', message: 'no source measures disks' },
    { type: 'PoliciesRead', status: 'True', reason: 'AllRead', message: 'every policy can be read' },
    { type: 'SourcesAgree', status: 'False', reason: 'SourcesDisagree', message: 'the kubelet says otherwise' },
  ],
  signals: [
    { name: 'memory.available', state: 'Hard', available: '256Mi', capacity: '1Gi', threshold: '512Mi' },
    { name: 'cpu.available', state: 'Soft', available: 'much', capacity: '4' },
  ],
  next: [{ pod: 'team-b/hog', uid: 'u1', priority: 100, usage: '400Mi', request: '100Mi', because: BECAUSE }],
  evictions: [
    { pod: 'team-b/a', uid: 'u2', signal: 'memory.available', outcome: 'evicted', requestedAt: '2026-01-01T11:59:50Z' },
    { pod: 'team-b/b', uid: 'u3', outcome: 'pretended (dry run)', requestedAt: '2026-01-01T11:59:40Z' },
    {
      pod: 'team-b/c',
      uid: 'u4',
      outcome: 'evicted',
      requestedAt: '2026-01-01T11:00:00Z',
      endedAt: '2026-01-01T11:00:05Z',
    },
  ],
};

function view(status: object, now = NOW) {
  return nodeView(decodeNodePressure({ metadata: { name: 'node-1' }, status }), now);
}

describe('nodeView', () => {
  test('a node is shown with its signals as shares of capacity and the threshold as such a share', () => {
    expect(view(STATUS)).toMatchObject({
      name: 'node-1',
      mode: 'Enforce',
      state: 'Hard',
      signals: ['memory.available'],
      observedAt: NOW - 2_000,
      usedRatio: 0.75,
      lineRatio: 0.5,
      headroom: '-256Mi',
      next: 'team-b/hog',
      readings: [
        { name: 'memory.available', available: '256Mi', threshold: '512Mi', usedRatio: 0.75, lineRatio: 0.5 },
        { name: 'cpu.available', available: 'much', usedRatio: undefined, lineRatio: undefined },
      ],
      candidates: [{ rank: 1, pod: 'team-b/hog', priority: 100, usage: '400Mi', why: BECAUSE.text }],
    });
  });

  test('a condition is trouble where a shortage holds or a statement does not, never where all is well', () => {
    const { conditions, troubles } = view(STATUS) ?? {};
    expect(troubles).toEqual(['Memory', 'SourcesAgree']);
    expect(conditions?.find(({ type }) => type === 'PoliciesRead')).toMatchObject({
      reason: 'AllRead',
      isTrouble: false,
    });
  });

  test('only evictions that were really requested and have not ended are in flight', () => {
    expect(view(STATUS)?.evicting).toBe(1);
  });

  test('what is not fresh is unknown: under pressure after a minute, else after seven', () => {
    const calm = { ...STATUS, signals: [{ ...STATUS.signals[0], state: 'Far' }] };
    expect([view(STATUS, NOW + 59_000), view(calm, NOW + 410_000)].map((node) => node?.state)).toEqual([
      'Unknown',
      'Far',
    ]);
    expect(view(calm, NOW + 421_000)?.state).toBe('Unknown');
  });

  test('the worst signal decides, and little idle CPU does not', () => {
    const state = (...states: readonly string[]) =>
      view({
        ...STATUS,
        signals: states.map((each, index) => ({ name: index === 0 ? 'cpu.available' : `s${index}`, state: each })),
      })?.state;
    expect([state('Soft', 'Far'), state('Hard', 'Near', 'Far'), state('Far', 'Near', 'Soft')]).toEqual([
      'Far',
      'Near',
      'Soft',
    ]);
  });

  test('nothing is shown before the first write, and a broken status does not throw', () => {
    expect(nodeView(decodeNodePressure({ metadata: { name: 'node-1' } }), NOW)).toBeUndefined();
    expect(view({ signals: 'none', next: [{}] })).toMatchObject({ state: 'Unknown', readings: [], candidates: [] });
  });
});
