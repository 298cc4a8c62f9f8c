import { isLastResort } from '#shared/domain/eviction/protection.ts';
import { hasEnded, type Pod, claimedDaemonSet } from '#shared/domain/pod/pod.ts';
import { priorityOf } from '#shared/domain/snapshot/placed-pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import { readSome, type SomeOptions } from '#shared/kube/list/read-some.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodeWith } from '#shared/kube/reflector/reflector.ts';
import { parseItem } from '#shared/kube/list/list-scanner.ts';
import { DAEMON_SETS, PODS } from '#shared/kube/resource.ts';
import { ERRORS } from '#webhook/messages.ts';

/** A preemption of a pod that opted out. */
export interface OptedOutVictim {
  readonly victim: Pod;
  readonly optedOut: (pod: Pod) => boolean;
  readonly signal: AbortSignal;
}

const MAX_PODS = 500;
const MAX_DAEMON_SETS = 100;
const MAX_BYTES = 32 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
const readPod = decodeWith(decodePod);

/**
 * Whether a pod may be preempted although it opted out, decided as in the extender
 * (`shared/domain/preemption/proposal/proposal.ts`): its node holds only such pods and pods of DaemonSets, and a
 * DaemonSet's pod of higher priority is nominated to it. Each DaemonSet that a pod names is read, because anyone who
 * may create pods can name one. kube-scheduler may delete victims before it stores the nomination; it then tries again.
 * Rejects if pods or DaemonSets cannot be read.
 */
export async function isLastResortPreemption(
  client: KubeClient,
  { victim, optedOut, signal }: OptedOutVictim,
): Promise<boolean> {
  const { nodeName: node = '' } = victim.spec;
  if (node === '') return false;
  const ask = <T>(fieldSelector: string, judge: (pod: Pod) => T) => askOfPods(client, { fieldSelector, signal }, judge);
  const nominated = await ask(`status.nominatedNodeName=${node}`, (pod) =>
    isPreemptor(pod, victim, node) ? claimOf(pod) : undefined,
  );
  const exist = await existing(client, nominated, signal);
  if (!nominated.some((claim) => claim !== undefined && exist.has(claim.key))) return false;
  const others = await ask(`spec.nodeName=${node}`, (pod) =>
    isGone(pod, node) || isLastResort([pod], { optedOut, isDaemonSetPod: () => false }) ? [] : [claimOf(pod)],
  );
  const claims = others.flat();
  const known = await existing(client, claims, signal);
  return claims.every((claim) => claim !== undefined && known.has(claim.key));
}

function isGone(pod: Pod, node: string): boolean {
  return pod.spec.nodeName !== node || hasEnded(pod);
}

function isPreemptor(pod: Pod, victim: Pod, node: string): boolean {
  const isWaiting = (pod.spec.nodeName ?? '') === '' && pod.status.nominatedNodeName === node;
  return isWaiting && priorityOf(pod) > priorityOf(victim);
}

/** A DaemonSet that a pod names as its controller. */
interface Claim {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly key: string;
}

function claimOf(pod: Pod): Claim | undefined {
  const owner = claimedDaemonSet(pod);
  if (owner === undefined) return undefined;
  const { namespace } = pod;
  const { name, uid } = owner;
  return { namespace, name, uid, key: `${namespace}/${name}/${uid}` };
}

/** Keys of the DaemonSets that exist with the named UID. */
async function existing(
  client: KubeClient,
  claims: readonly (Claim | undefined)[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const byKey = new Map(claims.flatMap((claim) => (claim === undefined ? [] : [[claim.key, claim] as const])));
  if (byKey.size > MAX_DAEMON_SETS) throw new Error(ERRORS.list(DAEMON_SETS.plural, 'more than a node has'));
  const exist = await Promise.all(Array.from(byKey.values(), (claim) => doesExist(client, claim, signal)));
  return new Set([...byKey.keys()].filter((_, index) => exist[index]));
}

async function doesExist(client: KubeClient, { namespace, name, uid }: Claim, signal: AbortSignal): Promise<boolean> {
  const found = await getObject(client, { resource: DAEMON_SETS, namespace, name }, { signal, timeoutMs: TIMEOUT_MS });
  if (found.kind === 'notFound') return false;
  return expectOk(found, `read DaemonSet "${namespace}/${name}"`).metadata.uid === uid;
}

/** The answer for each selected pod; one pod is held at a time. */
async function askOfPods<T>(
  client: KubeClient,
  selection: Pick<SomeOptions, 'fieldSelector' | 'signal'>,
  judge: (pod: Pod) => T,
): Promise<readonly T[]> {
  const options = { ...selection, limit: MAX_PODS, mostBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS };
  const page = await readSome(client, { resource: PODS }, options, (json) => judge(readPod(parseItem(json))));
  if (page.kind !== 'page') throw new Error(ERRORS.list(PODS.plural, page.message));
  if (page.isCut || page.continueToken !== undefined)
    throw new Error(ERRORS.list(PODS.plural, 'not all could be read'));
  return page.items;
}
