import type { Component } from '#shared/domain/disruption/limit-rule.ts';
import { ACCOUNTS, ALL_ACCOUNTS, usersOf } from '#shared/kube/accounts/accounts.ts';

/** A named expression of a ValidatingAdmissionPolicy, computed at most once for each evaluation. */
export interface CelVariable {
  readonly name: string;
  readonly expression: string;
}

/** Several lines that form one expression. */
export function celVariable(name: string, ...lines: readonly string[]): CelVariable {
  return { name, expression: lines.join('\n') };
}

/**
 * A loop takes time that grows with the square of its length: Kubernetes 1.36.3 keeps each computed value until the
 * loop ends, and searches all of them. So a list that a caller can make long is walked in rows of this length.
 */
export const ROW = 100;
/** The numbers below ROW, to walk rows and columns. */
export const NUMBERS = celVariable('numbers', `[${Array.from({ length: ROW }, (_, number) => number).join(', ')}]`);

/** A CEL expression that must be true for a request to be judged. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** The service account of the agents. */
export const AGENT_ACCOUNT = ACCOUNTS.agent.user;
/** Our service accounts, as the API server names them, without that of a kube-scheduler. */
export const OWN_ACCOUNTS: readonly string[] = ALL_ACCOUNTS.filter(({ preempts }) => preempts === undefined).flatMap(
  usersOf,
);
/** Users that preempt by deleting: the cluster's scheduler, and that of deploy/components/scheduler-second. */
export const SCHEDULERS: readonly string[] = ['system:kube-scheduler', ACCOUNTS.secondScheduler.user];

/** The component to which the removals of a user are attributed. */
export function callerComponent(user: string): Component {
  if (user === AGENT_ACCOUNT) return 'Agent';
  if (OWN_ACCOUNTS.includes(user)) return 'Scheduler';
  if (SCHEDULERS.includes(user)) return 'KubeScheduler';
  return user.startsWith('system:node:') ? 'Kubelet' : 'Others';
}

/**
 * A node creates mirror pods, which cannot be refused. The annotation alone, which any tenant can write, exempts no
 * pod.
 */
export const NOT_A_NODE = condition('not-by-a-node', "!('system:nodes' in request.userInfo.?groups.orValue([]))");
/**
 * A policy of the API server holds the resizes of agents to CPU limits, and they lower none while a quota counts them: a
 * limit comes back though the webhook is away.
 */
export const NOT_A_RESIZE_BY_AGENTS = condition(
  'not-a-resize-by-agents',
  `request.operation != 'UPDATE' || !(request.userInfo.?username.orValue('') in ${celList([AGENT_ACCOUNT])})`,
);
const BY_US = `request.userInfo.?username.orValue('') in ${celList(OWN_ACCOUNTS)}`;
/** Requests by our own accounts. */
export const OURSELVES = condition('by-plimsoll', BY_US);
/** Requests by other users. */
export const NOT_OURSELVES = condition('not-by-plimsoll', `!(${BY_US})`);
/** A controller's pods follow from a template that was judged when a person wrote it. */
export const NOT_A_CONTROLLER = condition(
  'not-by-a-controller',
  "!('system:serviceaccounts:kube-system' in request.userInfo.?groups.orValue([]))",
);

/** Policies depend on no other field of a class that can change. */
export const DEFAULT_OR_DELETION = condition(
  'deletion-or-global-default',
  "request.operation == 'DELETE' || (has(object.globalDefault) && object.globalDefault) || " +
    "(request.operation == 'UPDATE' && has(oldObject.globalDefault) && oldObject.globalDefault)",
);

/** A scheduler's victim is exempt by its priority class, or not at all; one that terminates already has been asked about. */
export const MAY_BE_EXEMPT = condition(
  'may-be-exempt',
  `!(request.userInfo.username in ${celList(SCHEDULERS)}) || ` +
    "(oldObject.spec.?priorityClassName.orValue('') != '' && !has(oldObject.metadata.deletionTimestamp))",
);

/** The deletion of a pod that has ended, terminates already or has not run disrupts nothing. */
export const DISRUPTS = condition(
  'disrupts',
  '!has(oldObject.metadata.deletionTimestamp) && ' +
    "!(oldObject.?status.phase.orValue('') in ['Pending', 'Succeeded', 'Failed'])",
);

/** Requests by one of these users. */
export function byOneOf(users: readonly string[]): MatchCondition {
  return condition('by-a-gated-caller', `request.userInfo.username in ${celList(users)}`);
}

/** A named condition. */
export function condition(name: string, expression: string): MatchCondition {
  return { name, expression };
}

/** A list of texts in CEL. */
export function celList(names: readonly string[]): string {
  return `[${names.map((name) => `'${name.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`).join(', ')}]`;
}

/** A pod with more containers cannot be judged, and is refused; no node could run more. */
const MAX_CONTAINERS = ROW * ROW;
/** Longer than any QoS class. */
const MAX_SHOWN_LENGTH = 40;

/**
 * A QoS class in the status of a new pod must follow from its requests and limits (shared/domain/pod/pod-requests.ts).
 * The API server has already checked that no request exceeds its limit, so the sums are equal if each pair is.
 */
export const QOS_VARIABLES: readonly CelVariable[] = [
  celVariable('givenQos', "object.?status.?qosClass.orValue('')"),
  celVariable(
    'parts',
    'has(object.spec.resources) ? [object.spec] : object.spec.containers + object.spec.?initContainers.orValue([])',
  ),
  celVariable(
    'isBestEffort',
    everyPart(
      'parts',
      '!(has(part.resources) && (',
      `  (has(part.resources.requests) && (${isStated('part.resources.requests')})) ||`,
      `  (has(part.resources.limits) && (${isStated('part.resources.limits')}))))`,
    ),
  ),
  celVariable(
    'isGuaranteed',
    everyPart(
      'parts',
      'has(part.resources) && has(part.resources.limits) && has(part.resources.requests) &&',
      `  ${isEqual('cpu')} &&`,
      `  ${isEqual('memory')}`,
    ),
  ),
  celVariable(
    'qosClass',
    "variables.isBestEffort ? 'BestEffort' : variables.isGuaranteed ? 'Guaranteed' : 'Burstable'",
  ),
  celVariable(
    'qosFault',
    "!params.spec.checkQosClass || variables.givenQos == '' ? '' :",
    `size(variables.parts) > ${MAX_CONTAINERS} ?`,
    `  params.spec.messagePrefix + 'status.qosClass cannot be checked on a pod with more than ${MAX_CONTAINERS} containers' :`,
    "variables.givenQos == variables.qosClass ? '' :",
    "  params.spec.messagePrefix + 'status.qosClass must be `' + variables.qosClass +",
    "    '`, which follows from the pod\\'s requests and limits, not ' +",
    `    (size(variables.givenQos) > ${MAX_SHOWN_LENGTH} ? 'a longer text' : '\`' + variables.givenQos + '\`')`,
  ),
];

/** Whether all items of a variable satisfy a condition on `part`. */
export function everyPart(parts: string, ...condition: readonly string[]): string {
  const part = `row * ${ROW} + column`;
  const holds = condition.join('\n');
  return [
    `size(variables.${parts}) <= ${ROW} ?`,
    `variables.${parts}.all(part, ${holds}) :`,
    `variables.numbers.all(row, row * ${ROW} >= size(variables.${parts}) || variables.numbers.all(column,`,
    `  ${part} >= size(variables.${parts}) || [variables.${parts}[${part}]].all(part, ${holds})))`,
  ].join('\n');
}

export function isStated(amounts: string): string {
  return `${isPositive(`${amounts}.cpu`)} || ${isPositive(`${amounts}.memory`)}`;
}

export function isPositive(amount: string): string {
  return `(has(${amount}) && quantity(${amount}).isGreaterThan(quantity('0')))`;
}

function isEqual(name: string): string {
  const [limit, request] = [`part.resources.limits.${name}`, `part.resources.requests.${name}`];
  return `${isPositive(limit)} && has(${request}) && quantity(${limit}) == quantity(${request})`;
}
