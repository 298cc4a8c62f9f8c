import { PHRASES, listSome } from './messages/priority-messages.ts';
import { classMentions } from '#shared/domain/quota/priority-quota.ts';
import type { PriorityClass } from '#shared/domain/priority/classes-and-policies.ts';
import type { ClusterState } from './cluster-state.ts';
import { allow, type AdmissionDecision, reasonOf, refuseFor } from './decision.ts';
import { MESSAGES } from './messages.ts';

/** A change of a priority class: `after` is `undefined` for a deletion, `before` for a creation. */
export interface ClassChange {
  readonly before: PriorityClass | undefined;
  readonly after: PriorityClass | undefined;
  /** Why annotations of `after` have no effect, as sentences. */
  readonly annotationProblems?: readonly string[];
}

/**
 * Decides whether a class may change. A class that policies or quotas name must not be deleted, because they would then
 * refuse pods or count none. A second global default is refused even if the API server's own check, which reads a
 * cache, would allow two at once. Value and preemption policy of a class are immutable in Kubernetes. Effects on pods
 * and ResourceQuotas only cause warnings.
 */
export function decideClassChange(change: ClassChange, cluster: ClusterState): AdmissionDecision {
  const { before, after, annotationProblems = [] } = change;
  if (after === undefined) return before === undefined ? accepted('', []) : decideDeletion(before, cluster);
  const refused = after.isGlobalDefault ? refuseSecondDefault(after, cluster) : undefined;
  if (refused !== undefined) return refused;
  const isDefaultGone = before?.isGlobalDefault === true && !after.isGlobalDefault;
  return accepted(after.name, [...(isDefaultGone ? [PHRASES.noGlobalDefault()] : []), ...annotationProblems]);
}

function decideDeletion({ name }: PriorityClass, cluster: ClusterState): AdmissionDecision {
  const mentions = classMentions(name, cluster.policies, cluster.priorityQuotas);
  if (mentions.length === 0) return accepted(name, [...userWarnings(name, cluster), ...quotaWarnings(name, cluster)]);
  const facts = { priorityClassName: name, mentions: mentions.length };
  return refuseFor(MESSAGES.classInUse, { ...facts, mentions }, facts);
}

/**
 * With several global defaults the class with the lowest value applies (oddity P3), so a second one may change nothing
 * or everything.
 */
function refuseSecondDefault({ name }: PriorityClass, { classes }: ClusterState): AdmissionDecision | undefined {
  const other = [...classes.values()].find((each) => each.isGlobalDefault && each.name !== name);
  if (other === undefined) return undefined;
  const facts = { priorityClassName: name, globalDefault: other.name };
  return refuseFor(MESSAGES.secondGlobalDefault, facts, facts);
}

function accepted(name: string, warnings: readonly string[]): AdmissionDecision {
  return allow(reasonOf(MESSAGES.classChangeAccepted, {}, { priorityClassName: name }), warnings);
}

/** Pods keep their priority when their class is deleted, but cannot be recreated with it (S1-8). */
function userWarnings(name: string, { knownPods: { pods, isPartial } }: ClusterState): readonly string[] {
  const users = pods.filter(({ spec }) => spec.priorityClassName === name);
  if (users.length === 0) return [];
  const names = users.map((pod) => `\`${pod.namespace}/${pod.name}\``);
  return [PHRASES.podsKeepPriority(name, listSome(names, isPartial))];
}

function quotaWarnings(name: string, cluster: ClusterState): readonly string[] {
  const naming = [...cluster.namespaceNames()]
    .flatMap((namespace) => cluster.resourceQuotas(namespace))
    .filter(({ scopes }) => scopes.some((term) => term.scopeName === 'PriorityClass' && term.values.includes(name)))
    .map((quota) => `\`${quota.namespace}/${quota.name}\``)
    .sort();
  return naming.length === 0 ? [] : [PHRASES.quotasNameClass(name, listSome(naming))];
}
