import { isLastResort } from '#shared/domain/eviction/last-resort.ts';
import { hasEnded } from '#shared/domain/pod/has-ended.ts';
import { isDaemonSetPod } from '#shared/domain/pod/pod-owner.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { priorityOf } from '#shared/domain/snapshot/placed-pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { readSome, type SomeOptions } from '#shared/kube/list/read-some.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodeWith } from '#shared/kube/reflector/decode-with.ts';
import { parseItem } from '#shared/kube/list/list-scanner.ts';
import { PODS } from '#shared/kube/resource.ts';
import { ERRORS } from '#webhook/messages.ts';

/** A preemption of a pod that opted out. */
export interface OptedOutVictim {
  readonly victim: Pod;
  readonly optedOut: (pod: Pod) => boolean;
  readonly signal: AbortSignal;
}

const MOST_PODS = 500;
const MOST_BYTES = 32 * 1024 * 1024;
const LONGEST_MS = 10_000;
const readPod = decodeWith(decodePod);

/**
 * Whether a pod may be preempted although it opted out, as the extender decides it
 * (`shared/domain/preemption/proposal/last-resort-victims.ts`): its node holds only such pods and those of DaemonSets, and
 * a DaemonSet's pod of higher priority is nominated to it. kube-scheduler may delete victims before the nomination is
 * stored; it then tries again. Rejects when pods cannot be listed or read.
 */
export async function isLastResortPreemption(
  client: KubeClient,
  { victim, optedOut, signal }: OptedOutVictim,
): Promise<boolean> {
  const { nodeName: node = '' } = victim.spec;
  if (node === '') return false;
  const ask = (fieldSelector: string, judge: (pod: Pod) => boolean) =>
    askOfPods(client, { fieldSelector, signal }, judge);
  const nominated = await ask(`status.nominatedNodeName=${node}`, (pod) => isPreemptor(pod, victim, node));
  if (!nominated.includes(true)) return false;
  const placed = await ask(`spec.nodeName=${node}`, (pod) => isGone(pod, node) || isLastResort([pod], optedOut));
  return !placed.includes(false);
}

function isGone(pod: Pod, node: string): boolean {
  return pod.spec.nodeName !== node || hasEnded(pod);
}

function isPreemptor(pod: Pod, victim: Pod, node: string): boolean {
  const isWaiting = (pod.spec.nodeName ?? '') === '' && pod.status.nominatedNodeName === node;
  return isWaiting && isDaemonSetPod(pod) && priorityOf(pod) > priorityOf(victim);
}

/** The answer of each selected pod; one is held at a time. */
async function askOfPods(
  client: KubeClient,
  selection: Pick<SomeOptions, 'fieldSelector' | 'signal'>,
  judge: (pod: Pod) => boolean,
): Promise<readonly boolean[]> {
  const options = { ...selection, limit: MOST_PODS, mostBytes: MOST_BYTES, timeoutMs: LONGEST_MS };
  const page = await readSome(client, { resource: PODS }, options, (json) => judge(readPod(parseItem(json))));
  if (page.kind !== 'page') throw new Error(ERRORS.list(PODS.plural, page.message));
  if (page.isCut || page.continueToken !== undefined)
    throw new Error(ERRORS.list(PODS.plural, 'not all could be read'));
  return page.items;
}
