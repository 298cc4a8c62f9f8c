import type { PreparedSelector } from '#shared/domain/labels/label-selector.ts';
import type { PriorityClass, PriorityClasses } from './priority-class.ts';

/** A rule of a policy: the class of pods that name none, by their labels and the kind of their owner. */
export interface ClassRule {
  readonly name: string;
  readonly pods: PreparedSelector;
  /** Kinds of the controller that owns the pod; empty takes pods of every owner, and without one. */
  readonly ownerKinds: readonly string[];
  readonly className: string;
}

/** A rule with the name that is recorded on the pod: `POLICY/RULE`, or `POLICY` for the default of a policy. */
export interface RecordedRule extends Pick<ClassRule, 'ownerKinds' | 'className'> {
  readonly pods: Pick<PreparedSelector, 'matches' | 'requirements'>;
  readonly record: string;
}

/** Where a policy says which class pods get. */
interface Giving {
  readonly name: string;
  readonly defaultClassName: string | undefined;
  readonly classRules: readonly ClassRule[];
}

const ALL_PODS: RecordedRule['pods'] = { requirements: [], matches: () => true };

/** The rules of a policy in the order in which they are tried; the default comes last and takes every pod. */
export function rulesOf({ name, classRules, defaultClassName: className }: Giving): readonly RecordedRule[] {
  const rules = classRules.map((rule) => ({ ...rule, record: `${name}/${rule.name}` }));
  return className === undefined ? rules : [...rules, { pods: ALL_PODS, ownerKinds: [], className, record: name }];
}

/** The owner of a pod that names more is not looked for: anyone can write them, and the API server looks, too. */
export const MAX_OWNERS = 100;

/** What rules look at. */
export interface RuledPod {
  readonly labels: ReadonlyMap<string, string>;
  /** Kind of its controller; `undefined` without one. */
  readonly ownerKind: string | undefined;
}

/** The class that a policy gives to a pod without one, and the rule that says so. */
export interface RuledClass {
  readonly given: PriorityClass;
  readonly record: string;
}

/** By the first rule that takes the pod and whose class exists; `undefined` where there is none (S3-9). */
export function classByRule(policy: Giving, pod: RuledPod, classes: PriorityClasses): RuledClass | undefined {
  for (const { className, record, ...rule } of rulesOf(policy)) {
    const given = classes.get(className);
    if (given !== undefined && takes(rule, pod)) return { given, record };
  }
  return undefined;
}

function takes({ pods, ownerKinds }: Pick<RecordedRule, 'pods' | 'ownerKinds'>, { labels, ownerKind }: RuledPod) {
  const isOwned = ownerKinds.length === 0 || (ownerKind !== undefined && ownerKinds.includes(ownerKind));
  return isOwned && pods.matches(labels);
}
