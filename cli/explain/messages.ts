import { whatHappened } from '#shared/decide/pods/messages.ts';
import type { Cause, DisruptionSpec, Preemptor } from '#shared/domain/disruption/disruption.ts';

/** Every sentence of `plimsoll explain`, to be read from top to bottom. */

export const NO_POLICY = 'default settings; no NodePressurePolicy selects the node';

export function policy(name: string, mode: string): string {
  return `${name} (${mode})`;
}

export function policyUnreadable(name: string, field: string, message: string): string {
  return `NodePressurePolicy ${name} cannot be read, so no pod of the node is evicted: ${field}: ${message}`;
}

export const NOT_ON_A_NODE = 'none; see plimsoll why-not';

export function place(position: number, reason: string): string {
  return `${position}: ${reason}`;
}

export const NOT_AMONG_NEXT = 'not among the pods that would be evicted next';
export const NO_FRESH_REPORT = 'unknown: the agent of the node has not reported for minutes';

export const NOT_PROTECTED = 'no';

export function budget(name: string, allowed: number): string {
  return `${name} (${allowed} disruptions allowed)`;
}

export function avoided(node: string, until: string, cause: string, hard: boolean): string {
  return `${node} until ${until}${hard ? ', no pod of the owner is placed there' : ''}: ${cause}`;
}

export function admittedTo(queue: string, at: string): string {
  return `${queue}, let in at ${at}`;
}

export function inQueue(queue: string, why: string): string {
  return `${queue}: ${why}`;
}

export const IN_NO_QUEUE = 'none; see the Event WaitsInQueue of the pod';

export function byPolicy(name: string, mode: string, why: string): string {
  return `${name} (${mode}) ${why}`;
}

export function evictedByPolicy(at: string, why: string): string {
  return `moved it at ${at}: ${why}`;
}

export function ownerStopped(until: string, why: string): string {
  return `leaves its owner alone until ${until}: ${why}`;
}

export function wouldMove(node: string, why: string): string {
  return `would move it to node ${node}: ${why}`;
}

export function staysWhere(why: string): string {
  return `leaves it where it is: ${why}`;
}

export function reschedulingNotKnown(cause: string): string {
  return `not known: ${cause}`;
}

export function noQuota(name: string, known: readonly string[]): string {
  const others =
    known.length === 0 ? '; name the namespace of a ResourceQuota with -n' : `; there are ${known.join(', ')}`;
  return `PriorityQuota ${name} not found${others}`;
}

export function expectedObject(words: readonly (string | undefined)[]): string {
  return `expected pod NAME, quota NAME, disruption NAME or TYPE/NAME, got ${words.filter((word) => word !== undefined).join(' ')}`;
}

/*
 * Every sentence of `plimsoll explain` about a removed pod, to be read from top to bottom.
 */

/** The first sentence of a record. */
export function headline({ pod, node, cause, at, age }: Headline): string {
  return `pod ${pod} ${whatHappened(cause, node)}, at ${at} (${age} ago)`;
}

interface Headline {
  readonly pod: string;
  readonly node: string;
  readonly cause: Cause;
  readonly at: string;
  readonly age: string;
}

export function standing({ owner, priority, priorityClassName, classRule }: DisruptionSpec): string {
  const ofOwner = owner === undefined ? 'it had no owner' : `it belonged to ${owner.kind} ${owner.name}`;
  const byRule = classRule === undefined ? '' : `, given by rule ${classRule}`;
  return `${ofOwner}, and had ${priorityText(priority, priorityClassName)}${byRule}`;
}

export function storm(count: number, isOwned: boolean): string {
  const which = isOwned ? 'of that owner' : 'without an owner';
  return `the record stands for ${count} pods ${which}, which were removed within seconds`;
}

export function isOneOfThem(pod: string): string {
  return `pod ${pod} is one of them; its own node and time are not recorded`;
}

export function requested(by: string | undefined): string {
  return by === undefined ? 'requested by: not recorded, because it is not certain' : `requested by: ${by}`;
}

export function reasonLine({ code, text, facts }: DisruptionSpec['because']): string {
  const known = Object.entries(facts).map(([name, value]) => `${name}=${value}`);
  return `reason: ${text} (${[code, ...known].join(', ')})`;
}

/** The limits that count it; an owner without a DisruptionLimit has those of the DisruptionPolicy. */
export function debited({ rules, overran }: NonNullable<DisruptionSpec['debited']>): string {
  const counts = `it counts for ${rules.map(limitText).join(' and ')}`;
  return overran === undefined ? counts : `${counts}, and went beyond ${limitText(overran)}`;
}

function limitText(rule: string): string {
  return rule.startsWith('limit/')
    ? `DisruptionLimit ${rule.slice('limit/'.length)}`
    : 'the default limit of its owner';
}

/** The nominated node is where room is set aside, which decides nothing (S1-14); the pod may land elsewhere (S0-28). */
export function madeRoom(preemptor: Preemptor, placedOn: string | undefined): string {
  const { nominatedNode } = preemptor;
  const setAside = `room on node ${nominatedNode} was set aside for ${preemptorText(preemptor)}`;
  if (placedOn === undefined)
    return `${setAside}; where that pod was placed is not recorded: kube-scheduler may choose another node`;
  const place = placedOn === nominatedNode ? 'there' : `on node ${placedOn}`;
  return `${setAside}; that pod was placed ${place}`;
}

/** Names of pods in other namespaces are not disclosed. */
function preemptorText({ pod, uid, priority, priorityClassName }: Preemptor): string {
  const named = pod === undefined ? 'a pod of another namespace' : `pod ${pod}`;
  return `${named} with ${priorityText(priority, priorityClassName)}, UID ${uid}`;
}

function priorityText(priority: number, priorityClassName: string | undefined): string {
  return priorityClassName === undefined ? `priority ${priority}` : `priority ${priority} (class ${priorityClassName})`;
}

export const OTHER_NAMESPACE = '<another namespace>';
export const NOT_KNOWN = '<unknown>';

export const NOT_FOLLOWED_YET = 'what became of it is not recorded yet';
export const NOT_FOLLOWED = 'what became of it was not recorded';

export function gone(at: string, after: string, isStorm: boolean): string {
  return `${isStorm ? 'the last of them' : 'it'} was gone after ${after}, at ${at}`;
}

export const NOT_SEEN_GONE = 'it was not seen to be gone';

export function replaced({ pod, node, isSameNode }: Replaced): string {
  return `it was replaced by pod ${pod} on ${isSameNode ? 'the same node' : 'another node'}, ${node}`;
}

interface Replaced {
  readonly pod: string;
  readonly node: string;
  readonly isSameNode: boolean;
}

export const NOT_REPLACED = 'no pod of its owner was placed afterwards, as far as the record goes';
export const HAS_NO_REPLACEMENT = 'no pod replaces it: it had no owner';

export function avoidEntry({ node, until, isHard }: ListedAvoidEntry): string {
  const effect = isHard ? 'no pod of its owner is placed' : 'pods of its owner are placed last';
  return `on node ${node} ${effect} until ${until}`;
}

interface ListedAvoidEntry {
  readonly node: string;
  readonly until: string;
  readonly isHard: boolean;
}

export function podIsGone(pod: string, records: number): string {
  return `pod ${pod} does not exist; ${records === 1 ? '1 Disruption says' : `${records} Disruptions say, the newest first,`} what removed it`;
}

export const NO_RECORD = '; no Disruption of a pod of that name found';
export const KIND_NOT_SERVED = '; removed pods are not recorded: the API server does not know Disruptions';

export function noDisruption(namespace: string, name: string): string {
  return `Disruption ${namespace}/${name} not found; list them with plimsoll disruptions -n ${namespace}`;
}

/** Of a pod that exists, after the label `Removed pods of its owner`. */
export function ownerLost({ count, days, latest, namespace }: OwnerLosses): string {
  const pods = count === 1 ? '1 pod' : `${count} pods`;
  return `${pods} in the last ${days} days: ${latest.join(', ')}; see plimsoll disruptions -n ${namespace}`;
}

interface OwnerLosses {
  readonly count: number;
  readonly days: number;
  readonly latest: readonly string[];
  readonly namespace: string;
}

export function oneLoss(pod: string, cause: Cause, age: string): string {
  return `${pod} (${cause}, ${age} ago)`;
}

export function lossesNotKnown(cause: string): string {
  return `not known: ${cause}`;
}
