import { MINUTE_MS } from '#shared/domain/base/durations.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';

/** Two preemptions: one within team-1, one by a pod of another namespace than its victim's. */
export function generatedRecords(now: number): readonly KubeObject[] {
  return [
    preempted('team-1', 'batch-1', now - 3 * MINUTE_MS, {
      pod: 'web-9',
      why: 'before team-2/thumbnails: its priority is lower',
    }),
    preempted('team-2', 'thumbnails-3', now - 4 * MINUTE_MS, {
      pod: undefined,
      why: 'pod team-2/long opted out of preemption',
    }),
  ];
}

function preempted(
  namespace: string,
  pod: string,
  at: number,
  preemptor: { readonly pod: string | undefined; readonly why: string },
): KubeObject {
  const madeRoomFor = {
    uid: 'u-9',
    pod: preemptor.pod,
    priorityClassName: 'critical',
    priority: 100_000,
    nominatedNode: 'node-004',
  };
  const because = { code: 'Preempted', text: preemptor.why, facts: {} };
  return {
    metadata: { name: `${pod}-u`, namespace },
    spec: {
      pod,
      podUID: `uid-${pod}`,
      priority: -100,
      priorityClassName: 'batch',
      node: 'node-004',
      cause: 'Preemption',
      removedAt: new Date(at).toISOString(),
      because,
      madeRoomFor,
    },
    status: { placedOn: 'node-004', replacement: { pod: `${pod}-again`, node: 'node-005' } },
  };
}
