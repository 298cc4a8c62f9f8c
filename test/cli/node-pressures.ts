import { uidOf } from './example-cluster.ts';

/** When the snapshot of these tests was taken. */
export const TAKEN_AT = '2026-01-01T12:00:00Z';

function signal(name: string, state: string, available: string, threshold: string): object {
  return { name, state, available, capacity: '8Gi', threshold, since: TAKEN_AT };
}

function nodePressure(name: string, status: object, spec: object = {}): object {
  return { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name }, spec, status };
}

const NEXT = {
  pod: 'reports/nightly-0',
  uid: uidOf('nightly-0'),
  priority: -10,
  usage: '2Gi',
  request: '1Gi',
  because: {
    code: 'Ranked',
    text: 'uses 2Gi memory, over its request of 1Gi, priority -10',
    facts: { signal: 'memory.available' },
  },
};
const AVOID = {
  owner: { namespace: 'reports', kind: 'Job', name: 'nightly', uid: 'job' },
  until: '2026-01-01T12:10:00Z',
  cause: 'evicted for memory.available',
  hard: false,
};

/** One node under pressure, one far from it, and one whose agent is silent. */
export const NODE_PRESSURES: readonly object[] = [
  nodePressure('node-2', {
    observedAt: TAKEN_AT,
    mode: 'DryRun',
    signals: [signal('memory.available', 'Far', '6Gi', '250Mi')],
    next: [],
  }),
  nodePressure(
    'node-1',
    {
      observedAt: TAKEN_AT,
      mode: 'Enforce',
      signals: [
        signal('memory.available', 'Near', '300Mi', '250Mi'),
        signal('pid.available', 'Soft', '10', '20'),
        signal('cpu.available', 'Hard', '0', '1'),
      ],
      next: [NEXT],
    },
    { avoid: [AVOID] },
  ),
  nodePressure('node-3', { observedAt: '2026-01-01T11:00:00Z', mode: 'Enforce', signals: [], next: [NEXT] }),
];

/** A List with the time at which it was taken. */
export function takenList(items: readonly object[]): string {
  const annotations = { 'plimsoll.dev/snapshot-time': TAKEN_AT };
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', metadata: { annotations }, items });
}
