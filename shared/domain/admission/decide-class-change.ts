import { classMentions } from '#shared/domain/priority/class-mentions.ts';
import type { PriorityClass } from '#shared/domain/priority/priority-class.ts';
import { because } from './admission-code.ts';
import type { ClusterState } from './cluster-state.ts';
import { allow, refuse, type AdmissionDecision } from './decision.ts';
import { listSome } from './refusals/list-some.ts';

/** A change of a priority class: `after` is `undefined` for a deletion, `before` for a creation. */
export interface ClassChange {
  readonly before: PriorityClass | undefined;
  readonly after: PriorityClass | undefined;
  /** Why annotations of `after` have no effect, as sentences. */
  readonly wishMistakes?: readonly string[];
}

/**
 * Decides whether a class may change. A class that policies or quotas name must not be deleted, because they would then
 * refuse pods or count none. A second global default is refused even if the API server's own check, which reads a
 * cache, would allow two at once. Value and preemption policy of a class are immutable in Kubernetes. Effects on pods
 * and ResourceQuotas only cause warnings.
 */
export function decideClassChange(change: ClassChange, cluster: ClusterState): AdmissionDecision {
  const { before, after, wishMistakes = [] } = change;
  if (after === undefined) return before === undefined ? accepted('', []) : decideDeletion(before, cluster);
  const refused = after.isGlobalDefault ? refuseSecondDefault(after, cluster) : undefined;
  if (refused !== undefined) return refused;
  const isDefaultGone = before?.isGlobalDefault === true && !after.isGlobalDefault;
  return accepted(after.name, [...(isDefaultGone ? [noDefault()] : []), ...wishMistakes]);
}

function decideDeletion({ name }: PriorityClass, cluster: ClusterState): AdmissionDecision {
  const mentions = classMentions(name, cluster.policies, cluster.priorityQuotas);
  if (mentions.length === 0) return accepted(name, [...userWarnings(name, cluster), ...quotaWarnings(name, cluster)]);
  const text = `priority class \`${name}\` cannot be deleted: it is referenced by ${listSome(mentions)}; remove these references first`;
  return refuse(403, because('ClassInUse', text, { priorityClassName: name, mentions: mentions.length }));
}

/**
 * With several global defaults the class with the lowest value applies (oddity P3), so a second one may change nothing
 * or everything.
 */
function refuseSecondDefault({ name }: PriorityClass, { classes }: ClusterState): AdmissionDecision | undefined {
  const other = [...classes.values()].find((each) => each.isGlobalDefault && each.name !== name);
  if (other === undefined) return undefined;
  const text = `priority class \`${name}\` cannot be the global default: \`${other.name}\` already is, and only one class can be`;
  return refuse(403, because('SecondGlobalDefault', text, { priorityClassName: name, globalDefault: other.name }));
}

function accepted(name: string, warnings: readonly string[]): AdmissionDecision {
  const reason = because('ClassChangeAccepted', 'no policy depends on it', { priorityClassName: name });
  return allow(reason, warnings);
}

function noDefault(): string {
  return 'there is no global default class any more: new pods without a class get priority 0 unless a PriorityPolicy sets a default';
}

/** Pods keep their priority when their class is deleted, but cannot be recreated with it (S1-8). */
function userWarnings(name: string, { knownPods: { pods, isPartial } }: ClusterState): readonly string[] {
  const users = pods.filter(({ spec }) => spec.priorityClassName === name);
  if (users.length === 0) return [];
  const names = users.map((pod) => `\`${pod.namespace}/${pod.name}\``);
  return [
    `pods use priority class \`${name}\` and keep their priority, but new ones that name it will be refused: ${listSome(names, isPartial)}`,
  ];
}

function quotaWarnings(name: string, cluster: ClusterState): readonly string[] {
  const naming = [...cluster.namespaceNames()]
    .flatMap((namespace) => cluster.resourceQuotas(namespace))
    .filter(({ scopes }) => scopes.some((term) => term.scopeName === 'PriorityClass' && term.values.includes(name)))
    .map((quota) => `\`${quota.namespace}/${quota.name}\``)
    .sort();
  return naming.length === 0 ? [] : [`ResourceQuotas name priority class \`${name}\`: ${listSome(naming)}`];
}
