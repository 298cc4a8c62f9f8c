import { uidOf } from '#test/cli/example-cluster.ts';
import type { Cause } from '#shared/domain/disruption/disruption.ts';

/** What a Disruption of these tests says beyond the pod of a Job that was removed from node-1. */
export interface ExampleDisruption {
  readonly pod: string;
  readonly namespace?: string;
  readonly cause: Cause;
  readonly removedAt: string;
  readonly spec?: object;
  readonly status?: object;
}

/** A Disruption as the API server holds it. */
export function exampleDisruption({ pod, namespace = 'reports', cause, removedAt, ...rest }: ExampleDisruption) {
  return {
    apiVersion: 'plimsoll.dev/v1alpha1',
    kind: 'Disruption',
    metadata: { name: `${pod}.0a1b2c3d`, namespace },
    spec: {
      pod,
      podUID: uidOf(pod),
      owner: { kind: 'Job', name: 'nightly', uid: 'job' },
      priorityClassName: 'batch',
      priority: -10,
      node: 'node-1',
      removedAt,
      cause,
      because: { code: 'Known', text: 'it is known', facts: {} },
      ...rest.spec,
    },
    ...(rest.status !== undefined && { status: rest.status }),
  };
}

const PREEMPTED = {
  code: 'Preempted',
  text: 'a scheduler preempted it to make room for a pod of higher priority',
  facts: {},
};

/** Room on node-1 was set aside for a pod of the same namespace, which was then placed on node-2. */
export const PLACED_ELSEWHERE = exampleDisruption({
  pod: 'invoice-0',
  namespace: 'payments',
  cause: 'Preemption',
  removedAt: '2025-12-25T12:00:00Z',
  spec: {
    because: PREEMPTED,
    madeRoomFor: {
      uid: '0c9e4a1b-52d7-4a55-9d5e-3f3f1d3c8a10',
      pod: 'checkout-0',
      priorityClassName: 'critical',
      priority: 1000,
      nominatedNode: 'node-1',
    },
  },
  status: {
    count: 1,
    goneAt: '2025-12-25T12:00:30Z',
    replacement: { pod: 'invoice-1', node: 'node-1', sameNode: true },
    placedOn: 'node-2',
  },
});

/** Evicted by the agent, before a pod of its own namespace and one of another one. */
export const EVICTED = exampleDisruption({
  pod: 'nightly-7',
  cause: 'Eviction',
  removedAt: '2026-01-01T11:50:00Z',
  spec: {
    classRule: 'workers/jobs',
    requestedBy: 'plimsoll-agent',
    because: {
      code: 'Ranked',
      text: 'uses 2Gi memory, over its request of 1Gi, priority -10',
      facts: { signal: 'memory.available', usage: '2Gi' },
    },
    ranked: [
      { pod: 'nightly-0', priority: -10, code: 'Ranked' },
      { priority: 1000, code: 'RankedWithinRequest' },
    ],
  },
  status: {
    count: 1,
    goneAt: '2026-01-01T11:50:12Z',
    replacement: { pod: 'nightly-8', node: 'node-2', sameNode: false },
    avoid: { until: '2026-01-01T12:20:00Z', hard: false },
  },
});

/** Of many pods one record, whose end is not written yet. */
export const STORM = exampleDisruption({
  pod: 'nightly-2',
  cause: 'Taint',
  removedAt: '2026-01-01T11:59:00Z',
  spec: { because: { code: 'Tainted', text: 'it does not tolerate a NoExecute taint of its node' } },
  status: { count: 35, others: ['nightly-3', 'nightly-4'].map((pod, index) => ({ pod, podUID: `uid-of-${index}` })) },
});

export const EXAMPLE_DISRUPTIONS: readonly object[] = [PLACED_ELSEWHERE, EVICTED, STORM];
