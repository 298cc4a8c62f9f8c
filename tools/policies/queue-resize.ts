import { ANNOTATION_ADMITTED, API_VERSION } from '#shared/kube/api-names.ts';
import { celVariable, type CelVariable, condition } from '#shared/kube/admission/cel-expressions.ts';
import { RESIZED_PODS } from '#shared/kube/admission/webhook-configurations.ts';

const KINDS = ['cpu', 'memory'] as const;
type Kind = (typeof KINDS)[number];
const MARK = `object.metadata.?annotations['${ANNOTATION_ADMITTED}'].orValue('')`;
const MAX = (kind: Kind): string => `dyn(params).?spec.max.${kind}.orValue('')`;
const USED = (kind: Kind): string => `dyn(params).?status.used.${kind}.orValue('0')`;

/** What a pod requests, as far as a resize can change it: sidecars are init containers that run on. */
function requested(pod: string, kind: Kind): string {
  const amount = (of: string): string =>
    `has(${of}.resources) && has(${of}.resources.requests) && has(${of}.resources.requests.${kind}) ? quantity(${of}.resources.requests.${kind}).asApproximateFloat()`;
  const sidecars = `${pod}.spec.?initContainers.orValue([]).filter(part, part.?restartPolicy.orValue('') == 'Always')`;
  const sum = `(${pod}.spec.containers + ${sidecars}).map(part, ${amount('part')} : 0.0).sum()`;
  return `(${amount(`${pod}.spec`)} : ${sum})`;
}

const VARIABLES: readonly CelVariable[] = [
  celVariable('isOfQueue', `${MARK}.contains('"queue":"' + params.metadata.name + '"')`),
  ...KINDS.map((kind) => celVariable(`${kind}Growth`, requested('object', kind), `- ${requested('oldObject', kind)}`)),
];

/** Sums of fractions differ by less. */
const NOISE = '0.000001';

function isWithin(kind: Kind): string {
  return [
    `!variables.isOfQueue || variables.${kind}Growth <= ${NOISE} || string(${MAX(kind)}) == '' ||`,
    `quantity(string(${USED(kind)})).asApproximateFloat() + variables.${kind}Growth <= quantity(string(${MAX(kind)})).asApproximateFloat() * 1.00000001`,
  ].join('\n');
}

/**
 * A pod that runs must not grow past the maximum of its queue. Asked only about resizes, so that each Queue may be a
 * parameter. What queues use is as of their status, seconds ago: what passes meanwhile counts, and keeps others out.
 */
export const QUEUE_RESIZE = {
  resourceRules: [RESIZED_PODS],
  matchConditions: [condition('was-let-in', `${MARK} != ''`)],
  variables: VARIABLES,
  params: { paramKind: { apiVersion: API_VERSION, kind: 'Queue' } },
  validations: KINDS.map((kind) => ({
    expression: isWithin(kind),
    messageExpression: `'queue ' + params.metadata.name + ': ${kind} is limited to ' + string(${MAX(kind)}) + '; used ' + string(${USED(kind)}) + ', and the resize adds more than is left'`,
    message: `the queue of the pod has not enough ${kind} left for this resize`,
  })),
};
