/*
 * What the API server itself holds our own accounts to, from the list of them (shared/kube/accounts/accounts.ts). RBAC
 * can say neither in whose name an Event is written, nor how a pod is evicted, nor which field of an object is changed.
 */
import {
  ACCOUNTS,
  ALL_ACCOUNTS,
  FORMER_QUEUES_USER,
  type OwnAccount,
  usersOf,
} from '#shared/kube/accounts/accounts.ts';
import {
  ANNOTATION_EVICTION_PART,
  API_GROUP,
  DISRUPTION_ACCOUNT,
  EVICTION_BY_QUEUES,
  PROTECTED_NAMESPACES,
  REPORTING_CONTROLLERS,
} from '#shared/kube/api-names.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { celIsOn, NAMESPACE_SWITCHES } from '#shared/kube/namespace-switches.ts';
import { celList, celVariable, condition } from '#shared/kube/admission/cel-expressions.ts';
import { boundPolicy } from './validating-policy.ts';

const USER = "request.userInfo.?username.orValue('')";

/** Policies of deploy/base: they also hold accounts of components, which may be installed at any time. */
export function accountPolicies(): readonly KubeObject[] {
  return [...eventReporters(), ...ownEvictions(), ...ownLeases(), ...ownDebits()];
}

const NAMES_OF_EVENT =
  "[dyn(object).?reportingController.orValue(''), dyn(object).?reportingComponent.orValue(''), " +
  "dyn(object).?source.component.orValue(''), dyn(object).?deprecatedSource.component.orValue('')]";
const IS_OURS = "name.lowerAscii().trim().startsWith('plimsoll.dev/')";

/**
 * The reporter of an Event is free text. Names below plimsoll.dev/ belong to our accounts. A policy that cannot be
 * evaluated must not stop the Events of others, so a failure is ignored.
 */
function eventReporters(): readonly KubeObject[] {
  return boundPolicy({
    name: 'plimsoll-event-reporters',
    failurePolicy: 'Ignore',
    resourceRules: ['', 'events.k8s.io'].map((group) => rule(group, 'events', ['CREATE', 'UPDATE'])),
    // The two kinds of Event name the same fields differently.
    matchConditions: [condition('in-our-name', `${NAMES_OF_EVENT}.exists(name, ${IS_OURS})`)],
    variables: [
      celVariable('user', USER),
      celVariable('accounts', reportersByName()),
      celVariable('names', `${NAMES_OF_EVENT}.filter(name, name != '')`),
      celVariable('about', 'dyn(object).?regarding.or(dyn(object).?involvedObject).orValue({})'),
      celVariable('node', "request.userInfo.?extra[?'authentication.kubernetes.io/node-name'][?0].orValue('')"),
    ],
    validations: [
      {
        expression: 'variables.names.all(name, variables.user in variables.accounts[?name].orValue([]))',
        messageExpression: `'only the account of ' + variables.names.filter(name, ${IS_OURS})[0] + ' may write Events in its name'`,
      },
      {
        expression: [
          `variables.user != '${ACCOUNTS.agent.user}' ||`,
          "variables.about.?kind.orValue('') != 'Node' || variables.about.?name.orValue('') == variables.node",
        ].join('\n'),
        messageExpression:
          "'the agent on node ' + variables.node + ' may not write Events about node ' + variables.about.?name.orValue('')",
      },
    ],
  });
}

function reportersByName(): string {
  const entries = Object.entries(REPORTING_CONTROLLERS).map(([reporter, name]) => {
    const users = ALL_ACCOUNTS.filter(({ reportsAs }) => reportsAs === reporter).flatMap(usersOf);
    return `'${name}': ${celList(users)}`;
  });
  return `{${entries.join(',\n')}}`;
}

/** Those of the agent have a policy of their own, which is removed with it; a scheduler preempts by deleting. */
const HELD_ACCOUNTS = ALL_ACCOUNTS.filter(({ evicts, preempts }) => evicts !== 'OfOwnNode' && preempts === undefined);

/** Whether a part of the controller is on: its component gives the account the right to this status. */
function isPartOn(plural: string): string {
  return `authorizer.group('${API_GROUP}').resource('${plural}').subresource('status').check('patch').allowed()`;
}

const FOR_QUEUES = `object.?metadata.annotations['${ANNOTATION_EVICTION_PART}'].orValue('') == '${EVICTION_BY_QUEUES}'`;
const IN_QUEUES = celIsOn(NAMESPACE_SWITCHES.queues);

/** A stolen token of ours evicts as its program does: never from kube-system, never without grace, one judged pod. */
function ownEvictions(): readonly KubeObject[] {
  const evicting = HELD_ACCOUNTS.filter(({ evicts }) => evicts !== undefined).flatMap(usersOf);
  return boundPolicy({
    name: 'plimsoll-own-evictions',
    failurePolicy: 'Fail',
    resourceRules: [rule('', 'pods/eviction', ['CREATE'])],
    matchConditions: [condition('by-plimsoll', `${USER} in ${celList(HELD_ACCOUNTS.flatMap(usersOf))}`)],
    validations: [
      { expression: `${USER} in ${celList(evicting)}`, message: 'this account of Plimsoll evicts no pods' },
      {
        expression: `${USER} != '${ACCOUNTS.controller.user}' || (${FOR_QUEUES} ? ${isPartOn('queues')} : ${isPartOn('reschedulingpolicies')})`,
        message: 'the part of the controller that would evict this pod is off',
      },
      {
        expression: `!(${FOR_QUEUES} || ${USER} == '${FORMER_QUEUES_USER}') || ${IN_QUEUES}`,
        message: 'queues may evict only pods of namespaces whose pods wait in queues',
      },
      {
        expression: "object.?deleteOptions.preconditions.uid.orValue('') != ''",
        message: 'an eviction by Plimsoll must carry the UID of the pod that was judged',
      },
      {
        expression: 'object.?deleteOptions.gracePeriodSeconds.orValue(1) > 0',
        message: 'Plimsoll must not evict with a grace period of 0',
      },
      {
        expression: `!(request.namespace in ${celList(PROTECTED_NAMESPACES)})`,
        message: 'Plimsoll must not evict from kube-system or from its own namespaces',
      },
    ],
  });
}

const MAY_RENEW = ['patch', 'update'].map((verb) => `variables.lease.check('${verb}').allowed()`).join(' || ');

/** RBAC cannot limit a creation by name: with a token of one part, the Lease of another part would be taken before it starts. */
function ownLeases(): readonly KubeObject[] {
  const lease = "authorizer.group('coordination.k8s.io').resource('leases').namespace(request.namespace).name";
  return boundPolicy({
    name: 'plimsoll-own-leases',
    failurePolicy: 'Fail',
    resourceRules: [rule('coordination.k8s.io', 'leases', ['CREATE'])],
    matchConditions: [condition('by-plimsoll', `${USER} in ${celList(ALL_ACCOUNTS.flatMap(usersOf))}`)],
    variables: [celVariable('lease', `${lease}(object.metadata.?name.orValue(''))`)],
    validations: [
      { expression: MAY_RENEW, message: 'an account of Plimsoll may create only a Lease that it may renew' },
    ],
  });
}

/**
 * The record counts what it sees in the account of a namespace. The one that all our evictions are debited to is the
 * webhook's: filled, it would stop every agent.
 */
function ownDebits(): readonly KubeObject[] {
  return boundPolicy({
    name: 'plimsoll-own-debits',
    failurePolicy: 'Fail',
    resourceRules: ['disruptionaccounts', 'disruptionaccounts/status'].map((resource) =>
      rule(API_GROUP, resource, ['CREATE', 'UPDATE']),
    ),
    matchConditions: [condition('by-the-controller', `${USER} in ${celList(usersOf(ACCOUNTS.controller))}`)],
    validations: [
      {
        expression: `request.name == '${DISRUPTION_ACCOUNT}' || dyn(object).metadata.?name.orValue('') == '${DISRUPTION_ACCOUNT}'`,
        message: `the controller counts removals only in the account ${DISRUPTION_ACCOUNT} of a namespace`,
      },
    ],
  });
}

/** Only the node controller forbids nodes, where a loop of evictions is to end; its right to change nodes shows it. */
const FORBIDS_NODES = "authorizer.group('').resource('nodes').check('patch').allowed()";

/** The field of a NodePressure that an account may change, and who may add entries to it that forbid a node. */
export function pressurePolicy(
  account: OwnAccount & Required<Pick<OwnAccount, 'pressureField'>>,
  component: string,
): readonly KubeObject[] {
  const { name, pressureField } = account;
  const sides = '[variables.new, variables.old]';
  return boundPolicy({
    name: `${name}-pressures`,
    component,
    failurePolicy: 'Fail',
    resourceRules: [rule('plimsoll.dev', 'nodepressures', ['UPDATE'])],
    matchConditions: [condition('account', `${USER} in ${celList(usersOf(account))}`)],
    variables: [celVariable('new', 'dyn(object)'), celVariable('old', 'dyn(oldObject)')],
    validations: [
      {
        expression: `${sides}.all(side, side.metadata.all(field, field in ['managedFields', 'resourceVersion', 'generation'] ||\n${same('metadata')}))`,
        message: `${name} may not change the metadata of a NodePressure`,
      },
      {
        expression: `${sides}.all(side, side.?spec.orValue({}).all(field, field == '${pressureField}' ||\n${same('?spec')}))`,
        message: `${name} may change only spec.${pressureField} of a NodePressure`,
      },
      {
        expression: `${FORBIDS_NODES} || variables.new.?spec.avoid.orValue([]).all(entry, !entry.?hard.orValue(false) || entry in variables.old.?spec.avoid.orValue([]))`,
        message: `${name} may forbid no node: its entries in spec.avoid are not hard`,
      },
    ],
  });
}

function same(part: string): string {
  return `variables.new.${part}[?field].orValue('') == variables.old.${part}[?field].orValue('')`;
}

function rule(group: string, resource: string, operations: readonly string[]): object {
  const apiVersions = [group === 'plimsoll.dev' ? 'v1alpha1' : 'v1'];
  return { apiGroups: [group], apiVersions, resources: [resource], operations, scope: '*' };
}
