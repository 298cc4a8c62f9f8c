import { isDeepStrictEqual } from 'node:util';
import { because } from '#shared/domain/admission/admission-code.ts';
import { allow } from '#shared/domain/admission/decision.ts';
import { malformed, unexpectedResource } from '#shared/domain/admission/refusals/invalid-request.ts';
import { decodeTemplate, rawTemplate } from '#shared/kube/decode/decode-template.ts';
import { decideThenConfirm, TEMPLATE, type PodSources } from './decide-then-confirm.ts';
import type { AdmissionHandler } from '#webhook/server/review-listener.ts';

const RESOURCES: readonly string[] = [
  ...['deployments', 'statefulsets', 'daemonsets', 'replicasets', 'replicationcontrollers', 'jobs', 'cronjobs'],
];

/**
 * Handles workloads by the pods they would create; an update that leaves the template unchanged (scaling) is allowed.
 */
export function templateHandler(sources: PodSources): AdmissionHandler {
  return (review) => {
    const { request, object, oldObject } = review;
    if (!RESOURCES.includes(request.resource)) return unexpectedResource(request, 'a workload');
    if (request.operation === 'UPDATE' && isDeepStrictEqual(rawTemplate(object), rawTemplate(oldObject))) {
      return allow(because('NothingToDecide', 'the template is unchanged'));
    }
    const template = decodeTemplate(object, request.requester, request.namespace);
    if (template === undefined) return allow(because('NothingToDecide', 'there is no template'));
    if (!template.ok) return malformed('object', template);
    return decideThenConfirm({ review, request: template.value, phase: TEMPLATE }, sources);
  };
}
