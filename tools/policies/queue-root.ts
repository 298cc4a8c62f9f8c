import { ROOT_QUEUE } from '#shared/domain/queue/queue.ts';
import { API_GROUP } from '#shared/kube/api-names.ts';
import { condition } from '#shared/kube/admission/cel-expressions.ts';
import { inAnyVersion, rule } from '#shared/kube/admission/webhook-configurations.ts';

const OF_ROOT = `authorizer.group('${API_GROUP}').resource('queues').name('${ROOT_QUEUE}')`;

/**
 * The parts of the ValidatingAdmissionPolicy that guards the queue root. A right to create queues cannot be limited by
 * name, and the root says for the whole cluster whether pods are evicted and what there is to share. So only those may
 * create it who may also change it.
 */
export const QUEUE_ROOT = {
  resourceRules: [inAnyVersion(rule(API_GROUP, ['queues'], ['CREATE'], 'Cluster'))],
  matchConditions: [condition('is-the-root', `object.metadata.name == '${ROOT_QUEUE}'`)],
  variables: [],
  validations: [
    {
      expression: `['update', 'patch'].exists(verb, ${OF_ROOT}.check(verb).allowed())`,
      message: `the queue ${ROOT_QUEUE} must only be created by users who may also update it: its settings are for the whole cluster`,
    },
  ],
};
