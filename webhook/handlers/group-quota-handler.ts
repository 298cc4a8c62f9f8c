import { allowFor, refuseFor, type AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { malformed } from '#shared/domain/admission/refusals.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { POD_GROUPS } from '#shared/kube/admission/webhook-configurations.ts';
import { decodePodRequest } from '#shared/kube/decode/decode-pod-request.ts';
import { type Decoded, fieldOf } from '#shared/kube/decode/wire-object.ts';
import type { Review } from '#webhook/server/admission-review.ts';
import type { AdmissionHandler } from '#webhook/server/review-listener.ts';
import { quotasOf, type QuotaSources } from './quota-handler.ts';

type GroupSources = Pick<QuotaSources, 'cluster' | 'cachedNamespaces' | 'readLabels'>;

/**
 * Where a cluster serves PodGroups, the class of a group decides what its pods may preempt, whatever class they name
 * and are charged for. What a group will hold is not known when it is created, so it cannot be charged: it is refused if
 * a quota counts its class.
 */
export function withGroups(handle: AdmissionHandler, sources: GroupSources): AdmissionHandler {
  return (review) => {
    const { group, resource, subresource } = review.request;
    const isPodGroup = group === 'scheduling.k8s.io' && POD_GROUPS.includes(resource) && subresource === '';
    return isPodGroup ? decideGroup(sources, review) : handle(review);
  };
}

async function decideGroup(sources: GroupSources, review: Review): Promise<AdmissionDecision> {
  const decoded = podOf(review, sources);
  if (!decoded.ok) return malformed('object', decoded);
  const { spec } = decoded.value;
  if (spec.priorityClassName === undefined) return allowFor(MESSAGES.notCounted, {});
  const quotas = await quotasOf(sources, decoded.value);
  if ('kind' in quotas) return quotas;
  const [quota] = quotas;
  if (quota === undefined) return allowFor(MESSAGES.notCounted, {});
  const { priorityClassName, priority = 0 } = spec;
  const facts = { quota: quota.name, priorityClassName, priority };
  return refuseFor(MESSAGES.groupCounted, facts, facts);
}

/** The group as a pod of its class. The API server has resolved the number of the class, unless it does not know it. */
function podOf({ request, object }: Review, { cluster }: GroupSources): Decoded<Pod> {
  const { namespace, requester } = request;
  const spec = fieldOf(object, 'spec');
  const name = fieldOf(spec, 'priorityClassName');
  const priority = fieldOf(spec, 'priority') ?? cluster().classes.get(String(name))?.value;
  const named = name === undefined || name === '' ? {} : { priorityClassName: name, priority };
  const pod = { metadata: { namespace }, spec: { ...named, containers: [] } };
  const decoded = decodePodRequest(pod, requester, namespace);
  return decoded.ok ? { ok: true, value: { ...decoded.value.pod, namespace } } : decoded;
}
