import { isLastResort } from '#shared/domain/eviction/last-resort.ts';
import { isDaemonSetPod } from '#shared/domain/pod/pod-owner.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { priorityOf } from '#shared/domain/snapshot/placed-pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { listObjects } from '#shared/kube/client/objects.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodeWith } from '#shared/kube/reflector/decode-with.ts';
import { PODS } from '#shared/kube/resource.ts';
import { ERRORS } from '#webhook/messages.ts';

/** A preemption of a pod that opted out. */
export interface OptedOutVictim {
  readonly victim: Pod;
  readonly optedOut: (pod: Pod) => boolean;
  readonly timeoutMs: number;
}

const FINISHED: readonly (string | undefined)[] = ['Succeeded', 'Failed'];
const readPod = decodeWith(decodePod);

/**
 * Whether a pod may be preempted although it opted out, as the extender decides it
 * (`shared/domain/preemption/proposal/last-resort-victims.ts`): its node holds only such pods and those of DaemonSets, and
 * a DaemonSet's pod of higher priority is nominated to it. kube-scheduler may delete victims before the nomination is
 * stored; it then tries again. Rejects when pods cannot be listed or read.
 */
export async function isLastResortPreemption(
  client: KubeClient,
  { victim, optedOut, timeoutMs }: OptedOutVictim,
): Promise<boolean> {
  const { nodeName: node = '' } = victim.spec;
  if (node === '') return false;
  const nominated = await listPods(client, `status.nominatedNodeName=${node}`, timeoutMs);
  if (!nominated.some((pod) => isPreemptor(pod, victim, node))) return false;
  const pods = await listPods(client, `spec.nodeName=${node}`, timeoutMs);
  return isLastResort(
    pods.filter(({ spec, status }) => spec.nodeName === node && !FINISHED.includes(status.phase)),
    optedOut,
  );
}

function isPreemptor(pod: Pod, victim: Pod, node: string): boolean {
  const isWaiting = (pod.spec.nodeName ?? '') === '' && pod.status.nominatedNodeName === node;
  return isWaiting && isDaemonSetPod(pod) && priorityOf(pod) > priorityOf(victim);
}

async function listPods(client: KubeClient, fieldSelector: string, timeoutMs: number): Promise<readonly Pod[]> {
  const listed = await listObjects(client, { resource: PODS }, { fieldSelector, timeoutMs });
  if (listed.kind !== 'ok') throw new Error(ERRORS.list(PODS.plural, listed.message));
  return listed.object.items.map(readPod);
}
