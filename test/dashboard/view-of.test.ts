import { describe, expect, test } from 'vitest';
import { viewOf } from '#dashboard/view-of.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');

const BECAUSE = { code: 'ExceedsRequests', text: 'uses 300Mi more than it requests', facts: {} };

const NODE_1: KubeObject = {
  metadata: { name: 'node-1' },
  status: {
    observedAt: '2026-01-01T11:59:58Z',
    mode: 'Enforce',
    policy: 'default',
    conditions: [
      { type: 'Memory', status: 'True', reason: 'ThresholdMet', message: 'memory.available is below 250Mi' },
      { type: 'Disk', status: 'Unknown', reason: 'NotMeasured', message: 'no source measures disks' },
      { type: 'PoliciesRead', status: 'True', reason: 'AllRead', message: 'every policy can be read' },
      { type: 'SourcesAgree', status: 'False', reason: 'SourcesDisagree', message: 'the kubelet says otherwise' },
    ],
    signals: [
      { name: 'memory.available', state: 'Hard', available: '256Mi', capacity: '1Gi', threshold: '512Mi' },
      { name: 'cpu.available', state: 'Far', available: 'much', capacity: '4' },
    ],
    next: [{ pod: 'team-b/hog', uid: 'u1', priority: 100, usage: '400Mi', request: '100Mi', because: BECAUSE }],
    evictions: [],
  },
};

function view(nodePressures: readonly KubeObject[], events: readonly KubeObject[] = []) {
  return viewOf({ nodePressures: () => nodePressures, events: () => events, onChange: () => () => undefined }, NOW);
}

describe('viewOf', () => {
  test('a node is shown with its signals as shares of capacity and the line as such a share', () => {
    expect(view([NODE_1]).nodes).toEqual([
      {
        name: 'node-1',
        mode: 'Enforce',
        policy: 'default',
        observedAt: '2026-01-01T11:59:58.000Z',
        isStale: false,
        conditions: [
          expect.objectContaining({ type: 'Memory', message: 'memory.available is below 250Mi', isTrouble: true }),
          expect.objectContaining({ type: 'Disk', isTrouble: false }),
          expect.objectContaining({ type: 'PoliciesRead', reason: 'AllRead', isTrouble: false }),
          expect.objectContaining({ type: 'SourcesAgree', isTrouble: true }),
        ],
        signals: [
          {
            name: 'memory.available',
            state: 'Hard',
            available: '256Mi',
            capacity: '1Gi',
            threshold: '512Mi',
            usedRatio: 0.75,
            lineRatio: 0.5,
          },
          {
            name: 'cpu.available',
            state: 'Far',
            available: 'much',
            capacity: '4',
            threshold: undefined,
            usedRatio: undefined,
            lineRatio: undefined,
          },
        ],
        next: [
          {
            rank: 1,
            pod: 'team-b/hog',
            priority: 100,
            usage: '400Mi',
            request: '100Mi',
            why: 'uses 300Mi more than it requests',
          },
        ],
        evictions: [],
      },
    ]);
  });

  test('a node that was not heard of for three minutes is stale', () => {
    const seenAt = (observedAt: string) => ({ ...NODE_1, status: { observedAt } });
    const [quiet, silent] = [seenAt('2026-01-01T11:57:00Z'), seenAt('2026-01-01T11:56:59Z')];
    expect(view([quiet, silent]).nodes.map(({ isStale }) => isStale)).toEqual([false, true]);
  });

  test('an object without status or with a broken one is left out, the others stay', () => {
    const untouched = { metadata: { name: 'node-0' } };
    const broken = { metadata: { name: 'node-2' }, status: { signals: 'none' } };
    expect(view([broken, NODE_1, untouched]).nodes.map(({ name }) => name)).toEqual(['node-1']);
  });

  test('nodes stand by name and events newest first', () => {
    const other = { ...NODE_1, metadata: { name: 'a-node' } };
    const event = (at: string, reason: string): KubeObject => ({ metadata: { name: reason }, eventTime: at, reason });
    const shown = view([NODE_1, other], [event('2026-01-01T10:00:00Z', 'Old'), event('2026-01-01T11:00:00Z', 'New')]);
    expect(shown.nodes.map(({ name }) => name)).toEqual(['a-node', 'node-1']);
    expect(shown.events.map(({ reason }) => reason)).toEqual(['New', 'Old']);
  });

  test('a series is one event with its count and its last time', () => {
    const series: KubeObject = {
      metadata: { name: 'e' },
      type: 'Warning',
      reason: 'Evicted',
      note: 'The node was low on resource: memory. ',
      regarding: { kind: 'Pod', namespace: 'team-b', name: 'hog' },
      reportingController: 'plimsoll.dev/agent',
      eventTime: '2026-01-01T11:00:00.000000Z',
      series: { count: 3, lastObservedTime: '2026-01-01T11:05:00.000000Z' },
    };
    expect(view([], [series]).events).toEqual([
      {
        at: '2026-01-01T11:05:00.000000Z',
        type: 'Warning',
        reason: 'Evicted',
        about: 'Pod team-b/hog',
        note: 'The node was low on resource: memory. ',
        from: 'plimsoll.dev/agent',
        count: 3,
      },
    ]);
  });
});
