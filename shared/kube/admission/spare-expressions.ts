/*
 * Spare room as the API server sees it: the same questions about a pod as in shared/domain/spare/spare-room.ts, and the
 * operations that move its requests there, as the webhook does (pod-patches.ts).
 */
import { ANNOTATION_REQUESTED, ANNOTATION_SPARE } from '#shared/kube/api-names.ts';
import {
  celConcerns,
  celSends,
  KEPT_IN_SPARE_ROOM,
  SPARE_RULE_MESSAGES,
} from '#shared/domain/admission/rules/spare-rules.ts';
import { CEL_POLICY } from '#shared/domain/admission/policy-rule.ts';
import { MAX_AMOUNT } from '#shared/domain/spare/spare-room.ts';
import { SPARE_RESOURCES, type SpareKind } from '#shared/domain/spare/spare-resources.ts';
import { celVariable, type CelVariable, everyPart, isPositive, isStated, ROW } from './cel-expressions.ts';
import { CLASS_OF_POD, first } from './chosen-class.ts';
import { annotationPath, asPointer } from './pod-patches.ts';

const KINDS = ['cpu', 'memory'] as const satisfies readonly SpareKind[];
const NAMES = Object.values(SPARE_RESOURCES);
const INIT = initOf('object');
const ALL_CONTAINERS = containersOf('object');
const LISTS = [
  { list: 'containers', containers: 'object.spec.containers' },
  { list: 'initContainers', containers: INIT },
] as const;
const OF_POD = requestsOf('object');

function initOf(pod: string): string {
  return `${pod}.spec.?initContainers.orValue([])`;
}

function containersOf(pod: string): string {
  return `${pod}.spec.containers + ${initOf(pod)}`;
}

function requestsOf(pod: string): string {
  return `${pod}.spec.?resources.?requests`;
}

/** Whether the pod names spare room, and whether it requests cpu or memory of its node. */
export const SPARE_VARIABLES: readonly CelVariable[] = [
  celVariable('allContainers', ALL_CONTAINERS),
  celVariable(
    'usesSpareRoom',
    `!(${everyPart(
      'allContainers',
      NAMES.flatMap((name) =>
        ['requests', 'limits'].map((list) => `!('${name}' in part.?resources.?${list}.orValue({}))`),
      ).join(' &&\n  '),
    )})`,
  ),
  nodeRoomOf('object', 'requestsNodeRoom', 'allContainers'),
];

function nodeRoomOf(pod: string, name: string, containers: string): CelVariable {
  return celVariable(
    name,
    `(${requestsOf(pod)}.hasValue() && (${isStated(`${pod}.spec.resources.requests`)})) ||`,
    `!(${everyPart(containers, `!(${hasRequests('part')} && (${isStated('part.resources.requests')}))`)})`,
  );
}

/**
 * Why a resize is refused that begins to request cpu or memory of the node. A pod in spare room would hold both; a pod
 * that requests nothing was created without being moved there. Pods with requests are older than their policy.
 */
export const RESIZE_VARIABLES: readonly CelVariable[] = [
  celVariable('containersBefore', containersOf('oldObject')),
  nodeRoomOf('oldObject', 'requestedNodeRoom', 'containersBefore'),
  celVariable('sending', `variables.held.map(rules, rules.filter(rule, ${celSends('variables.className')}))`),
  celVariable('kept', 'variables.sending.filter(rules, size(rules) > 0).map(rules, rules[0])'),
  celVariable(
    'resizeFault',
    "!variables.requestsNodeRoom ? '' :",
    `variables.usesSpareRoom ? params.spec.messagePrefix + '${SPARE_RULE_MESSAGES.spareRoomWithRequests.text()}' :`,
    "variables.requestedNodeRoom || size(variables.kept) == 0 ? '' :",
    `${first('kept')}.map(rule, rule.messagePrefix + ${CEL_POLICY} + 'runs ' + variables.shownPods + ' ${KEPT_IN_SPARE_ROOM}')[0]`,
  ),
];

function hasRequests(container: string): string {
  return `has(${container}.resources) && has(${container}.resources.requests)`;
}

/** A pod that the patch below may change. The operations name containers by their numbers, of which there are so many. */
const CLASSES = 'params.spec.receivers.?spareClassNames.orValue({})';
export const MAY_MOVE = [
  `(('*' in ${CLASSES} || ${CLASS_OF_POD} in ${CLASSES}) &&`,
  `size(object.spec.containers) <= ${ROW} && size(${INIT}) <= ${ROW} &&`,
  `(${OF_POD}.hasValue() || (${ALL_CONTAINERS}).exists(part, ${hasRequests('part')} && (${isStated('part.resources.requests')}))))`,
].join(' ');

/** Whether the pod is moved, whatever class it has just been given, and the values to write. */
export const MOVE_VARIABLES: readonly CelVariable[] = [
  ...SPARE_VARIABLES,
  celVariable('finalClass', 'variables.isGiven ? variables.given : variables.className'),
  celVariable('asksSpareRoom', `object.metadata.?annotations['${ANNOTATION_SPARE}'].orValue('') == 'true'`),
  celVariable(
    'isMoved',
    `size(object.spec.containers) <= ${ROW} && size(${INIT}) <= ${ROW} &&`,
    '!variables.usesSpareRoom && variables.requestsNodeRoom &&',
    'variables.held.exists(rules, rules.exists(rule, has(rule.runOn) &&',
    "  (rule.runOn == 'Spare' || variables.asksSpareRoom) &&",
    `  ${celConcerns('variables.finalClass')}))`,
  ),
  celVariable(
    'requested',
    `'{' + (variables.allContainers.filter(part, ${hasRequests('part')} && (${isStated('part.resources.requests')}))`,
    `  .map(part, '"' + part.name + '":{' + ${shownRequests('part.resources.requests')} + '}') +`,
    `  (${OF_POD}.hasValue() && (${isStated('object.spec.resources.requests')}) ?`,
    `  ['"*":{' + ${shownRequests('object.spec.resources.requests')} + '}'] : [])`,
    ").join(',') + '}'",
  ),
  ...KINDS.flatMap((kind) => [
    celVariable(
      `${kind}OfPod`,
      `${OF_POD}.hasValue() && ${isPositive(`object.spec.resources.requests.${kind}`)} ?`,
      `${wholeAmount(kind, `object.spec.resources.requests.${kind}`)} : ''`,
    ),
    ...LISTS.map(({ list, containers }) => amountsOf(kind, list, containers)),
  ]),
  ...LISTS.flatMap(({ list, containers }) => [
    celVariable(`${list}WithResources`, `${containers}.map(part, has(part.resources))`),
    celVariable(`${list}WithRequests`, `${containers}.map(part, ${hasRequests('part')})`),
    celVariable(`${list}WithLimits`, `${containers}.map(part, has(part.resources) && has(part.resources.limits))`),
  ]),
];

function shownRequests(requests: string): string {
  const shown = KINDS.map(
    (kind) => `(${isPositive(`${requests}.${kind}`)} ? ['"${kind}":"' + ${requests}.${kind} + '"'] : [])`,
  );
  return `(${shown.join(' + ')}).join(',')`;
}

/**
 * What each container gets of spare room, empty for nothing. Requests of the whole pod become those of its first
 * container; without them each container has its own.
 */
function amountsOf(kind: SpareKind, list: string, containers: string): CelVariable {
  const request = `part.resources.requests.${kind}`;
  return celVariable(
    `${list}${kind}`,
    `variables.${kind}OfPod == '' ?`,
    `${containers}.map(part, ${hasRequests('part')} && ${isPositive(request)} ? ${wholeAmount(kind, request)} : '') :`,
    `variables.numbers.filter(n, n < size(${containers})).map(n, ${list === 'containers' ? `n == 0 ? variables.${kind}OfPod : ''` : "''"})`,
  );
}

/** Rounded up, as a text; whole numbers of at most 15 digits are exact as doubles. No more than fits an `int`. */
function wholeAmount(kind: SpareKind, request: string): string {
  const [most, factor] = kind === 'cpu' ? ['9P', ' * 1000.0'] : ['9E', ''];
  const scaled = `string(int(quantity(${request}).asApproximateFloat()${factor} + 0.9999))`;
  const whole = `quantity(${request}).isInteger() ? string(quantity(${request}).asInteger()) : ${scaled}`;
  const amount = kind === 'cpu' ? scaled : `(${whole})`;
  return `(quantity(${request}).isGreaterThan(quantity('${most}')) ? '${MAX_AMOUNT}' : ${amount})`;
}

/** The operations of the move; each list of containers is walked once for each of them. */
export const MOVE_PATCH = [
  '!variables.isMoved ? [] : [',
  `  !has(object.metadata.annotations) ?`,
  `  JSONPatch{op: 'add', path: '/metadata/annotations', value: {'${ANNOTATION_REQUESTED}': variables.requested}} :`,
  `  JSONPatch{op: 'add', path: '${annotationPath(ANNOTATION_REQUESTED)}', value: variables.requested}`,
  ']',
  ...KINDS.map(
    (kind) =>
      `+ (variables.${kind}OfPod == '' ? [] : [JSONPatch{op: 'add', path: '/spec/resources/requests/${kind}', value: '0'}])`,
  ),
  ...LISTS.flatMap(operationsOn),
].join('\n');

function operationsOn({ list }: (typeof LISTS)[number]): readonly string[] {
  const of = (what: string): string => `variables.${list}${what}`;
  const add = (where: string, path: string, value: string): string =>
    [
      `+ variables.numbers.filter(n, n < size(${of('WithResources')}) && ${where}).map(n,`,
      `  JSONPatch{op: 'add', path: '/spec/${list}/' + string(n) + '/resources${path}', value: ${value}})`,
    ].join('\n');
  return [
    add(`!${of('WithResources')}[n]`, '', '{}'),
    add(`!${of('WithRequests')}[n]`, '/requests', '{}'),
    add(`!${of('WithLimits')}[n] && (${of('cpu')}[n] != '' || ${of('memory')}[n] != '')`, '/limits', '{}'),
    ...KINDS.flatMap((kind) => [
      add('true', `/requests/${kind}`, "'0'"),
      ...['requests', 'limits'].map((field) =>
        add(`${of(kind)}[n] != ''`, `/${field}/${asPointer(SPARE_RESOURCES[kind])}`, `${of(kind)}[n]`),
      ),
    ]),
  ];
}
