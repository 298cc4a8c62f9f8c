/*
 * What behaves differently while pods wait in queues, as the API server says it to the caller that writes such an object.
 */
import { celVariable } from '#shared/kube/admission/cel-expressions.ts';
import { rule } from '#shared/kube/admission/webhook-configurations.ts';

const WAITING_OBJECTS = [
  rule('batch', ['jobs'], ['CREATE', 'UPDATE']),
  rule('apps', ['deployments'], ['CREATE', 'UPDATE']),
  rule('policy', ['poddisruptionbudgets'], ['CREATE', 'UPDATE']),
];

const VALIDATIONS = [
  {
    expression: "request.resource.resource != 'jobs' || !has(variables.spec.activeDeadlineSeconds)",
    message: "spec.activeDeadlineSeconds includes the time that the Job's pods wait in their queue",
  },
  {
    // As the controller of Deployments rounds: down.
    expression:
      "request.resource.resource != 'deployments' || variables.spec.?strategy.?type.orValue('RollingUpdate') != 'RollingUpdate' || " +
      "(variables.unavailable.endsWith('%') ? int(variables.unavailable.replace('%', '')) * int(variables.spec.?replicas.orValue(1)) >= 100 : int(variables.unavailable) > 0)",
    message:
      'spec.strategy.rollingUpdate.maxUnavailable is 0 or rounds down to 0: in a full queue a rollout replaces one pod at a time, and one that makes pods larger waits until its queue has room for one more pod',
  },
  {
    expression:
      "request.resource.resource != 'poddisruptionbudgets' || ![variables.spec.?minAvailable, variables.spec.?maxUnavailable].exists(each, string(each.orValue(0)).endsWith('%'))",
    message:
      'the percentage counts pods that wait in their queue as unhealthy: with enough of them no pod can be evicted; use a number',
  },
];

/** The parts of the ValidatingAdmissionPolicy that warns. */
export const QUEUE_WARNINGS = {
  resourceRules: WAITING_OBJECTS,
  matchConditions: [],
  variables: [
    celVariable('spec', 'dyn(object).spec'),
    celVariable('unavailable', "string(variables.spec.?strategy.?rollingUpdate.?maxUnavailable.orValue('25%'))"),
  ],
  validations: VALIDATIONS,
};
