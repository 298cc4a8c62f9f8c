import { because } from '#shared/domain/admission/admission-code.ts';
import { decideDisruption, type Disruption } from '#shared/domain/admission/decide-disruption.ts';
import { allow, refuse, type AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { malformed, unexpectedResource } from '#shared/domain/admission/unacceptable.ts';
import { DEFAULT_OPT_OUT_CEILING, type NodeProtection } from '#shared/domain/eviction/node-protection.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import type { KubeClient } from '#shared/kube/client.ts';
import { decodePod } from '#shared/kube/decode-pod.ts';
import { fieldOf } from '#shared/kube/field-of.ts';
import { getObject } from '#shared/kube/objects.ts';
import { ownerWishes } from '#shared/kube/owner-wishes.ts';
import { PODS } from '#shared/kube/resource.ts';
import { KUBE_SCHEDULER, OWN_ACCOUNTS } from '#shared/kube/webhook-configurations.ts';
import { PROTECTED_NAMESPACES } from '#shared/kube/wire-names.ts';
import type { Review } from './decode-review.ts';
import type { Judge } from './review-listener.ts';

export interface DisruptionSources {
  readonly client: KubeClient;
  /** Whom the policy of a node protects. */
  readonly protectionOnNode: (
    nodeName: string | undefined,
  ) => Promise<Pick<NodeProtection, 'namespaces' | 'optOutCeiling'>>;
  /** Annotations of a priority class. */
  readonly classAnnotations: (name: string) => ReadonlyMap<string, string> | undefined;
  /** Namespaces labelled to be ignored. */
  readonly isIgnored: (namespace: string) => boolean;
}

/** What the caller wants done, without the pod itself. */
type Wanted = Pick<Disruption, 'expectedUid' | 'gracePeriodSeconds'>;

const READ_POD_MS = 1_000;

/** Judges evictions (the pod must be looked up) or deletions (it stands in oldObject, also of a whole collection). */
export function judgeDisruptions(sources: DisruptionSources, kind: Disruption['kind']): Judge {
  return async (review) => {
    const found = kind === 'eviction' ? await evictedPod(sources, review) : deletedPod(review);
    if ('kind' in found) return found;
    const { pod, wanted } = found;
    const caller = callerOf(review);
    return decideDisruption({
      kind,
      caller,
      pod,
      ...wanted,
      wishes: ownerWishes(pod.annotations, sources.classAnnotations(pod.spec.priorityClassName ?? '')),
      ...(caller === 'plimsoll' ? await protectionOf(pod, sources) : NOBODY),
    });
  };
}

type Protection = Pick<Disruption, 'protectedNamespaces' | 'optOutCeiling'>;

/** Only our own accounts are held to these laws. */
const NOBODY: Protection = { protectedNamespaces: new Set(), optOutCeiling: DEFAULT_OPT_OUT_CEILING };

/** What the agent of the pod's node goes by. */
async function protectionOf({ namespace, spec }: Pod, sources: DisruptionSources): Promise<Protection> {
  const { namespaces, optOutCeiling } = await sources.protectionOnNode(spec.nodeName);
  const ignored = sources.isIgnored(namespace) ? [namespace] : [];
  return { protectedNamespaces: new Set([...PROTECTED_NAMESPACES, ...namespaces, ...ignored]), optOutCeiling };
}

type Found = { readonly pod: Pod; readonly wanted: Wanted } | AdmissionDecision;

/** A pod that is gone needs no protection. Where the API server does not say what the pod is, the answer is an error. */
async function evictedPod({ client }: DisruptionSources, review: Review): Promise<Found> {
  const { request, object } = review;
  const { resource, subresource, namespace, name } = request;
  if (resource !== 'pods' || subresource !== 'eviction') return unexpectedResource(request, 'pods/eviction');
  const problem = evictionProblem(object, name);
  if (problem !== undefined) return malformed('object', problem);
  const outcome = await getObject(client, { resource: PODS, namespace, name }, { timeoutMs: READ_POD_MS });
  if (outcome.kind === 'notFound') return allow(because('NothingToDecide', 'there is no such pod'));
  if (outcome.kind !== 'ok') throw new Error(`Could not read pod "${namespace}/${name}": ${outcome.message}`);
  const decoded = decodePod(outcome.object);
  if (!decoded.ok) return unreadable(review, decoded);
  return { pod: decoded.value, wanted: readWanted(fieldOf(object, 'deleteOptions')) };
}

const EVICTION_VERSIONS: readonly unknown[] = ['policy/v1', 'policy/v1beta1'];

function evictionProblem(eviction: unknown, name: string) {
  if (fieldOf(eviction, 'kind') !== 'Eviction' || !EVICTION_VERSIONS.includes(fieldOf(eviction, 'apiVersion'))) {
    return { field: 'apiVersion', message: 'expected an Eviction of policy/v1 or policy/v1beta1' };
  }
  if (name === '') return { field: 'metadata.name', message: 'expected the name of a pod' };
  const named = fieldOf(fieldOf(eviction, 'metadata'), 'name');
  if (named === name) return undefined;
  return { field: 'metadata.name', message: 'expected the name in the URL' };
}

function deletedPod(review: Review): Found {
  const { request, oldObject } = review;
  if (request.resource !== 'pods' || request.subresource !== '') return unexpectedResource(request, 'pods');
  if (request.operation !== 'DELETE') return allow(because('NothingToDecide', `${request.operation} removes no pod`));
  const decoded = decodePod(oldObject);
  if (!decoded.ok) return unreadable(review, decoded);
  return { pod: decoded.value, wanted: { expectedUid: undefined, gracePeriodSeconds: undefined } };
}

/**
 * Our own accounts remove nothing that they cannot read. Everybody else may: above all the scheduler, for otherwise a pod
 * would keep its place by being written in a way that we cannot read.
 */
function unreadable(review: Review, fault: { readonly field: string; readonly message: string }): AdmissionDecision {
  const { namespace, name } = review.request;
  const text = `cannot read the pod: ${fault.field}: ${fault.message}`;
  const isOurs = callerOf(review) === 'plimsoll';
  if (isOurs) return refuse(403, because('DisruptionUnwanted', text, { namespace, name }));
  return allow(because('DisruptionAccepted', text, { namespace, name }));
}

function readWanted(options: unknown): Wanted {
  const uid = fieldOf(fieldOf(options, 'preconditions'), 'uid');
  const grace = fieldOf(options, 'gracePeriodSeconds');
  return {
    expectedUid: typeof uid === 'string' ? uid : undefined,
    gracePeriodSeconds: typeof grace === 'number' ? grace : undefined,
  };
}

function callerOf({ request }: Review): Disruption['caller'] {
  if (OWN_ACCOUNTS.includes(request.requester.name)) return 'plimsoll';
  return request.requester.name === KUBE_SCHEDULER ? 'scheduler' : 'other';
}
