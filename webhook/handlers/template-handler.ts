import { isDeepStrictEqual } from 'node:util';
import { allowFor } from '#shared/domain/admission/message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { malformed, unexpectedResource } from '#shared/domain/admission/refusals/invalid-request.ts';
import { decodeTemplate, rawTemplate } from '#shared/kube/decode/decode-pod-request.ts';
import { decideThenConfirm, TEMPLATE, type PodSources } from './decide-then-confirm.ts';
import { groupHandler, isGroup } from './group-handler.ts';
import type { AdmissionHandler } from '#webhook/server/review-answerer.ts';

const RESOURCES: readonly string[] = [
  ...['deployments', 'statefulsets', 'daemonsets', 'replicasets', 'replicationcontrollers', 'jobs', 'cronjobs'],
];

/**
 * Handles workloads by the pods they would create; an update that leaves the template unchanged (scaling) is allowed.
 */
export function templateHandler(sources: PodSources): AdmissionHandler {
  const handleGroup = groupHandler(sources);
  return (review) => {
    const { request, object, oldObject } = review;
    if (isGroup(request)) return handleGroup(review);
    if (!RESOURCES.includes(request.resource)) return unexpectedResource(request, 'a workload');
    if (request.operation === 'UPDATE' && isDeepStrictEqual(rawTemplate(object), rawTemplate(oldObject))) {
      return allowFor(MESSAGES.templateUnchanged, {});
    }
    const template = decodeTemplate(object, request.requester, request.namespace);
    if (template === undefined) return allowFor(MESSAGES.noTemplate, {});
    if (!template.ok) return malformed('object', template);
    return decideThenConfirm({ review, request: template.value, phase: TEMPLATE }, sources);
  };
}
