/*
 * Gangs as the API server judges them when they are written, so that the person who wrote them hears it at once. The
 * leader judges them again (shared/kube/annotations/gangs.ts): what is refused here never runs there.
 */
import { MAX_GANG_SIZE } from '#shared/domain/gang/gang.ts';
import { BAD_NAME, NO_SIZE, NOT_OF_A_JOB } from '#shared/domain/gang/messages.ts';
import { GANG_NAME, GANG_NUMBER } from '#shared/kube/annotations/gangs.ts';
import { GANG_AUTO, LABEL_GANG, LABEL_GANG_MIN, LABEL_GANG_SIZE } from '#shared/kube/api-names.ts';
import { celVariable, type CelVariable, condition } from '#shared/kube/admission/cel-expressions.ts';
import { rule } from '#shared/kube/admission/webhook-configurations.ts';

const IS_JOB = "request.resource.resource == 'jobs'";
const IS_UPDATE = "request.operation == 'UPDATE'";
const TEMPLATES = ['deployments', 'statefulsets', 'replicasets'];

/** The value of a label, else of an annotation, else empty. */
function valueIn(metadata: string, key: string): string {
  return `${metadata}.?labels['${key}'].orValue(${metadata}.?annotations['${key}'].orValue(''))`;
}

function hasIn(metadata: string, key: string): string {
  return `('${key}' in ${metadata}.?labels.orValue({}) || '${key}' in ${metadata}.?annotations.orValue({}))`;
}

const KEYS = [LABEL_GANG, LABEL_GANG_SIZE, LABEL_GANG_MIN];
const NUMBERS = [
  ['size', LABEL_GANG_SIZE],
  ['min', LABEL_GANG_MIN],
] as const;

function isSameIn(metadata: string, before: string): string {
  return `${IS_UPDATE} && ${KEYS.map((key) => `${valueIn(metadata, key)} == ${valueIn(before, key)}`).join(' && ')}`;
}

/** How many pods of a Job run at once. */
function atOnce(job: string): string {
  const parallelism = `${job}.spec.?parallelism.orValue(1)`;
  return `(${job}.spec.?completions.orValue(${parallelism}) < ${parallelism} ? ${job}.spec.?completions.orValue(1) : ${parallelism})`;
}

const METADATA = 'variables.metadata';

/** Of a pod or of a template, by where their metadata are. */
function variablesOf(metadataOf: (object: string) => string): readonly CelVariable[] {
  return [
    celVariable('metadata', metadataOf('object')),
    celVariable('before', `${IS_UPDATE} ? ${metadataOf('oldObject')} : dyn({})`),
    celVariable('isSame', isSameIn(METADATA, 'variables.before')),
    celVariable('gang', valueIn(METADATA, LABEL_GANG)),
    celVariable('isAuto', `variables.gang == '${GANG_AUTO}'`),
    ...NUMBERS.flatMap(([name, key]) => [
      celVariable(`has_${name}`, hasIn(METADATA, key)),
      celVariable(name, valueIn(METADATA, key)),
      celVariable(
        `is_${name}`,
        `variables.${name}.matches('${GANG_NUMBER.source}') && int(variables.${name}) <= ${MAX_GANG_SIZE}`,
      ),
    ]),
  ];
}

function badNumber(name: string, key: string) {
  const message = `${key} must be a whole number from 1 to ${MAX_GANG_SIZE}`;
  return {
    expression: `!variables.has_${name} || variables.is_${name}`,
    messageExpression: `'${message}, not "' + variables.${name}.substring(0, size(variables.${name}) < 64 ? size(variables.${name}) : 64) + '"'`,
    message,
  };
}

/** What the name and the sizes must be, if they are new. */
function validationsOf(isOfJob: string) {
  const validations = [
    {
      expression: `variables.gang.matches('${GANG_NAME.source}')`,
      message: BAD_NAME({ field: LABEL_GANG }).text,
    },
    ...NUMBERS.map(([name, key]) => badNumber(name, key)),
    {
      expression: 'variables.has_size || variables.has_min',
      message: NO_SIZE({ fields: `${LABEL_GANG_SIZE} or ${LABEL_GANG_MIN}` }).text,
    },
    {
      expression:
        '!variables.has_size || !variables.has_min || !variables.is_size || !variables.is_min || int(variables.min) <= int(variables.size)',
      messageExpression: `'${LABEL_GANG_MIN} is ' + variables.min + ', more than ${LABEL_GANG_SIZE}, which is ' + variables.size`,
      message: `${LABEL_GANG_MIN} must not be more than ${LABEL_GANG_SIZE}`,
    },
    {
      expression: `!variables.isAuto || ${isOfJob}`,
      message: NOT_OF_A_JOB({ field: LABEL_GANG }).text,
    },
  ];
  return validations.map((each) => ({ ...each, expression: `variables.isSame || ${ifNamed(each.expression)}` }));
}

/** A pod that lost the name is judged by the change alone, as what was written before: its finalizers must come off. */
function ifNamed(expression: string): string {
  return `!${hasIn(METADATA, LABEL_GANG)} || (${expression})`;
}

const IS_OWNED_BY_JOB =
  "variables.metadata.?ownerReferences.orValue([]).exists(owner, owner.?controller.orValue(false) && owner.kind == 'Job')";

function ofPod(object: string): string {
  return `dyn(${object}).metadata`;
}

const NAMED_BY_POD = hasIn('object.metadata', LABEL_GANG);
const NAMED_BEFORE = hasIn('oldObject.metadata', LABEL_GANG);

/** What a policy over pods needs to judge the gang of one. */
export const POD_GANGS = {
  /** Whether the gang that a pod names is new or changes. */
  isWritten: `(${IS_UPDATE} ? (${NAMED_BY_POD} || ${NAMED_BEFORE}) && !(${isSameIn('object.metadata', 'oldObject.metadata')}) : ${NAMED_BY_POD})`,
  variables: variablesOf(ofPod),
  validations: [
    {
      expression: `!(${IS_UPDATE}) || variables.isSame || !(${NAMED_BY_POD} || ${NAMED_BEFORE})`,
      message: `${KEYS.join(', ')} must not change: members that name different sizes are no gang; create the pod again`,
    },
    ...validationsOf(IS_OWNED_BY_JOB),
  ],
};

function ofTemplate(object: string): string {
  return `dyn(${object}).spec.template.?metadata.orValue({})`;
}

const ENOUGH_PODS = {
  expression: `!(${IS_JOB}) || !variables.isAuto || !variables.is_size || (${IS_UPDATE} && ${atOnce('dyn(oldObject)')} == variables.parallelism) || variables.parallelism == 0 || int(variables.size) <= variables.parallelism`,
  messageExpression: `'spec.parallelism and spec.completions let ' + string(variables.parallelism) + ' pods run at once, fewer than ${LABEL_GANG_SIZE} of the template, which is ' + variables.size + ': the gang would wait for pods that never come'`,
  message: `spec.parallelism must not be less than ${LABEL_GANG_SIZE} of the template`,
};

/** The parts of the ValidatingAdmissionPolicy over templates that name a gang. */
export const QUEUE_GANGS = {
  resourceRules: [rule('batch', ['jobs'], ['CREATE', 'UPDATE']), rule('apps', TEMPLATES, ['CREATE', 'UPDATE'])],
  matchConditions: [condition('names-a-gang', hasIn(`(${ofTemplate('object')})`, LABEL_GANG))],
  variables: [...variablesOf(ofTemplate), celVariable('parallelism', `${IS_JOB} ? ${atOnce('dyn(object)')} : 0`)],
  validations: [ENOUGH_PODS, ...validationsOf(IS_JOB)],
};

const IN_JOB = 'object.metadata';
const LABELS_OF_TEMPLATE = '/spec/template/metadata/labels';
const AT_ONCE = atOnce('object');
const ADD_LABELS = [
  '!has(object.spec.template.metadata) || !has(object.spec.template.metadata.labels)',
  `? [JSONPatch{op: 'add', path: '${LABELS_OF_TEMPLATE}', value: {'${LABEL_GANG}': '${GANG_AUTO}', '${LABEL_GANG_SIZE}': string(${AT_ONCE})}}]`,
  `: [JSONPatch{op: 'add', path: '${LABELS_OF_TEMPLATE}/' + jsonpatch.escapeKey('${LABEL_GANG}'), value: '${GANG_AUTO}'},`,
  `   JSONPatch{op: 'add', path: '${LABELS_OF_TEMPLATE}/' + jsonpatch.escapeKey('${LABEL_GANG_SIZE}'), value: string(${AT_ONCE})}]`,
].join('\n');

/**
 * The parts of the MutatingAdmissionPolicy that gives the pods of a Job with `plimsoll.dev/gang: auto` the size: as many
 * as run at once. A template that names a size keeps it.
 */
export const JOB_GANGS = {
  resourceRules: [rule('batch', ['jobs'], ['CREATE'])],
  matchConditions: [
    condition(
      'is-auto',
      `${valueIn(IN_JOB, LABEL_GANG)} == '${GANG_AUTO}' || ${valueIn('object.spec.template.metadata', LABEL_GANG)} == '${GANG_AUTO}'`,
    ),
    condition(
      'names-no-size',
      `!${hasIn('object.spec.template.metadata', LABEL_GANG_SIZE)} && !${hasIn('object.spec.template.metadata', LABEL_GANG_MIN)}`,
    ),
  ],
  patch: ADD_LABELS,
};
