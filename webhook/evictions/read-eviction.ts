import type { RemovalRequest } from '#shared/domain/admission/decide-disruption.ts';
import type { EvictionUrgency } from '#shared/domain/eviction/eviction-limits.ts';
import { ANNOTATION_EVICTION_PART, ANNOTATION_EVICTION_URGENCY, EVICTION_BY_QUEUES } from '#shared/kube/api-names.ts';
import { fieldOf, type Decoded } from '#shared/kube/decode/wire-object.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import { PODS } from '#shared/kube/resource.ts';

/** The options of an Eviction, without the pod itself. */
export interface EvictionOptions extends Pick<RemovalRequest, 'expectedUid' | 'gracePeriodSeconds'> {
  /** From the options of the Eviction; those in the URL are in the review. */
  readonly isDryRun: boolean;
  /** As our agent reports it. */
  readonly urgency: EvictionUrgency | undefined;
  /** As our controller reports it. */
  readonly isForQueues: boolean;
}

const EVICTION_VERSIONS: readonly unknown[] = ['policy/v1', 'policy/v1beta1'];

/** The error in an Eviction of the pod with this name; `undefined` if it is valid. */
export function evictionProblem(
  eviction: unknown,
  name: string,
): { readonly field: string; readonly message: string } | undefined {
  if (fieldOf(eviction, 'kind') !== 'Eviction' || !EVICTION_VERSIONS.includes(fieldOf(eviction, 'apiVersion'))) {
    return { field: 'apiVersion', message: 'expected an Eviction of policy/v1 or policy/v1beta1' };
  }
  if (name === '') return { field: 'metadata.name', message: 'expected the name of a pod' };
  const named = fieldOf(fieldOf(eviction, 'metadata'), 'name');
  if (named === name) return undefined;
  return { field: 'metadata.name', message: 'expected the name in the URL' };
}

/** Reads the options of an Eviction; values of another type count as absent. */
export function readEviction(eviction: unknown): EvictionOptions {
  const options = fieldOf(eviction, 'deleteOptions');
  const uid = fieldOf(fieldOf(options, 'preconditions'), 'uid');
  const grace = fieldOf(options, 'gracePeriodSeconds');
  const annotations = fieldOf(fieldOf(eviction, 'metadata'), 'annotations');
  return {
    expectedUid: typeof uid === 'string' ? uid : undefined,
    gracePeriodSeconds: typeof grace === 'number' ? grace : undefined,
    isDryRun: isAll(fieldOf(options, 'dryRun')),
    isForQueues: fieldOf(annotations, ANNOTATION_EVICTION_PART) === EVICTION_BY_QUEUES,
    urgency: URGENCIES.find((each) => each === fieldOf(annotations, ANNOTATION_EVICTION_URGENCY)),
  };
}

const URGENCIES: readonly EvictionUrgency[] = ['Severe', 'LastChance'];

/** `All` is the only value that the API server accepts; anything else counts as a real eviction. */
function isAll(dryRun: unknown): boolean {
  return Array.isArray(dryRun) && dryRun.length === 1 && dryRun[0] === 'All';
}

/**
 * Reads the pod that an eviction names, which the review does not contain; `undefined` if it does not exist. Rejects
 * when it cannot be read.
 */
export async function findEvictedPod(
  client: KubeClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  timeoutMs: number,
): Promise<Decoded<Pod> | undefined> {
  const outcome = await getObject(client, { resource: PODS, namespace, name }, { timeoutMs });
  if (outcome.kind === 'notFound') return undefined;
  return decodePod(expectOk(outcome, `read pod "${namespace}/${name}"`));
}

/** A pod whose eviction was allowed. */
export interface AllowedVictim {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
}

/** Limits how many pods are read for one decision. */
const MAX_LOOKED_AT = 16;

/**
 * The UIDs of those among the last evicted pods that still run and are not terminating: something else refused their
 * eviction. A pod that cannot be read is left out.
 */
export async function findSurvivors(
  client: KubeClient,
  evicted: readonly AllowedVictim[],
  timeoutMs: number,
): Promise<ReadonlySet<string>> {
  const last = evicted.slice(-MAX_LOOKED_AT);
  const found = await Promise.all(last.map((each) => isUnharmed(client, each, timeoutMs)));
  return new Set(last.filter((_, index) => found[index]).map(({ uid }) => uid));
}

async function isUnharmed(
  client: KubeClient,
  { namespace, pod, uid }: AllowedVictim,
  timeoutMs: number,
): Promise<boolean> {
  const found = await getObject(client, { resource: PODS, namespace, name: pod }, { timeoutMs });
  if (found.kind !== 'ok') return false;
  const { metadata } = found.object;
  return metadata.uid === uid && metadata.deletionTimestamp === undefined;
}
