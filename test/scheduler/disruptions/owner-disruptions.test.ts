import { expect, test } from 'vitest';
import { emptySnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { OwnerDisruptions } from '#scheduler/disruptions/owner-disruptions.ts';
import { createPodSink } from '#scheduler/pod-sink.ts';

const NOW = Date.parse('2026-11-26T12:00:00Z');
const TERMINATING = { deletionTimestamp: '2026-11-26T11:50:30Z', deletionGracePeriodSeconds: 30 };
const BEGAN = Date.parse('2026-11-26T11:50:00Z');
const PREEMPTED = {
  phase: 'Failed',
  conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }],
};

function pod(metadata: object = {}, status: object = { phase: 'Running' }, nodeName = 'n'): KubeObject {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'web', controller: true };
  return {
    metadata: { namespace: 'team', name: 'a', uid: 'a', ownerReferences: [owner], ...metadata },
    spec: { nodeName },
    status,
  };
}

/** The watch of pods, as the scheduler process wires it. */
function watching() {
  const owners = new OwnerDisruptions({ now: () => NOW });
  const report = (error: unknown) => {
    throw error;
  };
  const observers = {
    observePod: (seen: Parameters<OwnerDisruptions['observePod']>[0]) => owners.observePod(seen),
    observeGone: (_: string, gone: Parameters<OwnerDisruptions['observeGone']>[0]) => owners.observeGone(gone),
  };
  return { owners, sink: createPodSink(emptySnapshot(), report, observers) };
}

test.each<[string, readonly KubeObject[], number | undefined]>([
  ['of a pod that runs: never', [pod(), pod()], undefined],
  ['of one that began to terminate, once', [pod(), pod(TERMINATING), pod({ ...TERMINATING, labels: { a: 'b' } })], NOW],
  ['of one that terminated before the process started', [pod(TERMINATING)], BEGAN],
  ['of one that a kubelet failed', [pod(), pod({}, PREEMPTED)], NOW],
  ['of one that failed before the process started: no news', [pod({}, PREEMPTED)], undefined],
  [
    'of one that ended by itself and is deleted',
    [pod({}, { phase: 'Succeeded' }), pod(TERMINATING, { phase: 'Succeeded' })],
    undefined,
  ],
  ['of one without a node', [pod({}, {}, ''), pod(TERMINATING, {}, '')], undefined],
  [
    'of one without a controller',
    [pod({ ownerReferences: [] }), pod({ ...TERMINATING, ownerReferences: [] })],
    undefined,
  ],
])('when an owner was disrupted last (S3-8): %s', (_, states, expected) => {
  const { owners, sink } = watching();
  for (const each of states) sink.set(each);
  expect([owners.at('web'), owners.at('other'), owners.at(undefined)]).toEqual([expected, undefined, undefined]);
});

test('a pod that is gone at once counts, too', () => {
  const { owners, sink } = watching();
  sink.set(pod());
  sink.remove(pod());
  expect(owners.at('web')).toBe(NOW);
});
