import { describe, expect, test } from 'vitest';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { decodeMessage } from '#shared/kube/protobuf/decode-message.ts';
import { SCHEDULED_POD } from '#shared/kube/protobuf/kube-messages.ts';
import { podChange } from '#scheduler/preemptions/watch-preemptions.ts';
import { createPodReader } from '#scheduler/read-pods.ts';
import { encodeMessage } from '#test/build/encode-message.ts';

interface Wire {
  readonly nodeName?: string;
  readonly status?: object;
}

const read = createPodReader();

/** As it comes from the API server. */
function rawOf({ nodeName, status = {} }: Wire): KubeObject {
  const object = { metadata: { namespace: 'team', name: 'db-0', uid: 'u' }, spec: { nodeName }, status };
  return decodeMessage(SCHEDULED_POD, encodeMessage('io.k8s.api.core.v1.Pod', object)) as unknown as KubeObject;
}

function change(before: Wire | undefined, after: Wire) {
  const raw = rawOf(after);
  const previous = before && ({ pod: read(rawOf(before)) } as unknown as PlacedPod);
  return podChange({ pod: read(raw), raw, previous });
}

const RUNNING = { nodeName: 'n1', status: { phase: 'Running' } };
const BY_SCHEDULER = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' };
const PREEMPTED = { nodeName: 'n1', status: { phase: 'Running', conditions: [BY_SCHEDULER] } };
const nominated = (nominatedNodeName: string) => ({ status: { phase: 'Pending', nominatedNodeName } });
const failed = (reason: string) => ({ nodeName: 'n1', status: { phase: 'Failed', reason } });

describe('podChange', () => {
  test('a pod that a scheduler marks as a victim is preempted, once', () => {
    expect(change(RUNNING, PREEMPTED)).toMatchObject({ kind: 'preempted', node: 'n1' });
    expect(change(PREEMPTED, PREEMPTED)).toBeUndefined();
    expect(change(undefined, PREEMPTED)).toBeUndefined();
  });

  test('an eviction is no preemption', () => {
    const conditions = [{ ...BY_SCHEDULER, reason: 'EvictionByEvictionAPI' }];
    expect(change(RUNNING, { ...PREEMPTED, status: { conditions } })).toBeUndefined();
  });

  test('a pending pod with a new nominated node is nominated', () => {
    expect(change(undefined, nominated('n1'))).toEqual({ kind: 'nominated', node: 'n1' });
    expect(change(nominated('n1'), nominated('n2'))).toEqual({ kind: 'nominated', node: 'n2' });
    expect(change(nominated('n1'), nominated('n1'))).toBeUndefined();
    expect(change(nominated('n1'), RUNNING)).toBeUndefined();
  });

  test.each(['OutOfcpu', 'OutOfmemory', 'OutOfexample.com/gpu', 'NodePorts', 'NodeAffinity'])(
    'a pod that the kubelet of its node refuses with %s is refused, once',
    (reason) => {
      expect(change({ ...RUNNING, status: { phase: 'Pending' } }, failed(reason))).toEqual({ kind: 'refused', reason });
      expect(change(undefined, failed(reason))).toBeUndefined();
    },
  );

  test.each(['Evicted', 'DeadlineExceeded', ''])('a pod that failed with reason "%s" was not refused', (reason) => {
    expect(change(RUNNING, failed(reason))).toBeUndefined();
  });
});
