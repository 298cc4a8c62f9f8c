import type { Because } from '#shared/domain/model/because.ts';
import { defaultClass } from '#shared/domain/priority/priority-class.ts';
import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import { chooseClass, namedClass } from '#shared/domain/admission/choose-class.ts';
import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import { reasonOf } from '#shared/domain/admission/message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { policiesFor } from './policies-for.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';

/**
 * Refuses a pod that was created without a class and did not get the one that a policy gives: the mutating entry
 * ignores failures, so a caller who can delay its answer could choose priority 0, or the global default. A policy whose
 * class does not exist gives none.
 */
export function breaksDefaultRule(
  request: PodRequest,
  { name: policy, defaultClassName = '' }: PriorityPolicy,
  cluster: ClusterState,
): Because | undefined {
  const { classes } = cluster;
  if (!classes.has(defaultClassName) || namedClass(request, defaultClass(classes)) !== undefined) return undefined;
  const { fields } = chooseClass(request, policiesFor(request, cluster), classes);
  const { namespace, spec } = request.pod;
  if ((spec.priorityClassName ?? '') === fields.priorityClassName) return undefined;
  const facts = { policy, namespace, priorityClassName: defaultClassName };
  return reasonOf(MESSAGES.defaultNotGiven, facts, facts);
}
