/*
 * Who may run in spare room. Nodes lend it to pods that a PriorityPolicy sends there (runOn): no other pod may name it,
 * and a pod that runs in it requests nothing of the node, or it would hold both.
 */
import type { Because } from '#shared/domain/base/because.ts';
import { type Message, reasonOf } from '#shared/domain/admission/decision.ts';
import { type NamedClass, type OfPolicy, podsOf } from '#shared/domain/admission/messages/priority-messages.ts';
import { CEL_POLICY, type PolicyRule } from '#shared/domain/admission/policy-rule.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { PriorityPolicy } from '#shared/domain/priority/classes-and-policies.ts';
import { concerns, spareGrant } from '#shared/domain/priority/run-on.ts';
import { requestsNodeRoom, usesSpareRoom } from '#shared/domain/spare/spare-room.ts';

const ONLY_GRANTED =
  'plimsoll.dev/spare-cpu and plimsoll.dev/spare-memory may be requested only where a PriorityPolicy with runOn grants spare room; none here grants it to';
const NOT_MOVED =
  'but this pod requests cpu or memory: the webhook did not answer in time, or the policy has just changed; try again';
/** The end of a sentence about a resize, which the API server alone judges. */
export const KEPT_IN_SPARE_ROOM = 'here in spare room: a resize must not add requests of cpu or memory';

export const SPARE_RULE_MESSAGES = {
  spareRoomNotGranted: {
    code: 'SpareRoomNotGranted',
    status: 403,
    text: (v: NamedClass) => `${ONLY_GRANTED} ${podsOf(v)}`,
  },
  spareRoomWithRequests: {
    code: 'SpareRoomWithRequests',
    status: 403,
    text: () =>
      'a pod that requests plimsoll.dev/spare-cpu or plimsoll.dev/spare-memory must request no cpu and no memory; set requests.cpu and requests.memory to "0"',
  },
  spareRoomNotGiven: {
    code: 'SpareRoomNotGiven',
    status: 403,
    text: (v: NamedClass & OfPolicy) => `policy \`${v.policy}\` runs ${podsOf(v)} here in spare room, ${NOT_MOVED}`,
  },
} as const satisfies Record<string, Message<never>>;

/** Refuses spare room that no policy grants, and room held twice. */
export function breaksSpareRule(pod: Pod, policies: readonly PriorityPolicy[]): Because | undefined {
  if (!usesSpareRoom(pod)) return undefined;
  const { priorityClassName = '' } = pod.spec;
  const facts = { namespace: pod.namespace, priorityClassName };
  if (spareGrant(policies, priorityClassName) === 'None')
    return reasonOf(SPARE_RULE_MESSAGES.spareRoomNotGranted, facts, facts);
  return requestsNodeRoom(pod) ? reasonOf(SPARE_RULE_MESSAGES.spareRoomWithRequests, {}, facts) : undefined;
}

/** `concerns` in CEL, of a rule with `runOn` and a class. */
export function celConcerns(className: string): string {
  return `(!has(rule.sparePriorityClassNames) || ${className} in rule.sparePriorityClassNames)`;
}

/** Whether a rule sends pods of a class to spare room. Rules that only grant, for those that warn judge in another set, do not. */
export function celSends(className: string): string {
  return `has(rule.runOn) && rule.runOn == 'Spare' && has(rule.mustBeGiven) && ${celConcerns(className)}`;
}

/** The same as `breaksSpareRule` for the API server, over the rules that apply: empty without a fault. */
export const CEL_SPARE_FAULT = [
  "!params.spec.checkSpareRoom || !variables.usesSpareRoom ? '' :",
  '!variables.held.exists(rules, rules.exists(rule, has(rule.runOn) &&',
  `  ${celConcerns('variables.className')})) ?`,
  `  params.spec.messagePrefix + '${ONLY_GRANTED} ' + variables.shownPods :`,
  `!variables.requestsNodeRoom ? '' : params.spec.messagePrefix + '${SPARE_RULE_MESSAGES.spareRoomWithRequests.text()}'`,
] as const;

/**
 * A pod of such a class that was not moved: the mutating entry ignores failures, so a caller who can delay its answer
 * could keep its requests.
 */
export const SPARE_RULE: PolicyRule = {
  judges: ['pod'],
  isSet: ({ runOn }) => runOn.room === 'Spare',
  breaks: ({ pod }, { name: policy, runOn }) => {
    const { priorityClassName = '' } = pod.spec;
    const isSent = runOn.room === 'Spare' && concerns(runOn, priorityClassName);
    if (!isSent || usesSpareRoom(pod) || !requestsNodeRoom(pod)) return undefined;
    const facts = { policy, namespace: pod.namespace, priorityClassName };
    return reasonOf(SPARE_RULE_MESSAGES.spareRoomNotGiven, facts, facts);
  },
  compiled: ({ runOn: { room, classNames } }) =>
    room === 'Requested'
      ? {}
      : { runOn: room, ...(classNames !== undefined && { sparePriorityClassNames: classNames }) },
  cel: () => ({
    fault: `(!variables.usesSpareRoom && variables.requestsNodeRoom && ${celSends('variables.className')})`,
    sentence: `    ${CEL_POLICY} + 'runs ' + variables.shownPods + ' here in spare room, ${NOT_MOVED}'`,
  }),
  problems: ({ runOn }, { classes, whyRefused }) =>
    (runOn.classNames ?? [])
      .filter((name) => {
        const named = classes.get(name);
        return named === undefined || whyRefused(named) !== undefined;
      })
      .map((name) => `sparePriorityClassNames: class \`${name}\` can never be used here`),
};
