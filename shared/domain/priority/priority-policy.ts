import { EVERYTHING, type PreparedSelector } from '#shared/domain/labels/label-selector.ts';
import type { PriorityClass, PriorityClasses } from './priority-class.ts';

/** A subject that a policy applies to. */
export type PolicySubject =
  | { readonly kind: 'User'; readonly name: string }
  | { readonly kind: 'Group'; readonly name: string }
  | { readonly kind: 'ServiceAccount'; readonly name: string; readonly namespace: string };

/** What the names of all service accounts as users begin with. */
export const SERVICE_ACCOUNT_PREFIX = 'system:serviceaccount:';

/** The user that the API server takes a service account for. `k8s.io/apiserver/pkg/authentication/serviceaccount/util.go` MakeUsername. */
export function serviceAccountUser({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${SERVICE_ACCOUNT_PREFIX}${namespace}:${name}`;
}

/** A PriorityPolicy as the decisions see it: which classes the pods of some namespaces and people may use. */
export interface PriorityPolicy {
  readonly name: string;
  readonly namespaces: PreparedSelector;
  /** Empty means everyone. */
  readonly subjects: readonly PolicySubject[];
  readonly defaultClassName: string | undefined;
  /** The first rule that matches a pod without a class sets its class, in place of the default. */
  readonly classRules: readonly ClassRule[];
  /** `undefined` allows every class. */
  readonly allowedClassNames: readonly string[] | undefined;
  readonly maxPriority: number | undefined;
  readonly preemption: 'Allow' | 'Never';
  /** Class that preempts → class that a pod gets instead. */
  readonly substitutes: ReadonlyMap<string, string>;
  readonly requireQuotaFor: readonly string[];
  readonly onViolation: 'Deny' | 'Warn';
  /** Set on pods that name no scheduler. */
  readonly schedulerName: string | undefined;
}

/**
 * For a pod that a controller creates, users and groups are unknown; the service account is known, because the pod
 * names it.
 */
export function isPersonal({ subjects }: PriorityPolicy): boolean {
  return subjects.some(({ kind }) => kind !== 'ServiceAccount');
}

/** A rule of a policy: the class of pods that name none, by their labels and the kind of their owner. */
export interface ClassRule {
  readonly name: string;
  readonly pods: PreparedSelector;
  /** Kinds of the controller that owns the pod; empty matches pods of every owner, and pods without one. */
  readonly ownerKinds: readonly string[];
  readonly className: string;
}

/** A rule with the name that is recorded on the pod: `POLICY/RULE`, or `POLICY` for the default of a policy. */
export interface RecordedRule extends Pick<ClassRule, 'ownerKinds' | 'className'> {
  readonly pods: Pick<PreparedSelector, 'matches' | 'requirements'>;
  readonly record: string;
}

/** The field of a policy that decides which class pods get. */
type Giving = Pick<PriorityPolicy, 'name' | 'defaultClassName' | 'classRules'>;

/** The rules of a policy in the order in which they are tried; the default comes last and matches every pod. */
export function rulesOf({ name, classRules, defaultClassName: className }: Giving): readonly RecordedRule[] {
  const rules = classRules.map((rule) => ({ ...rule, record: `${name}/${rule.name}` }));
  return className === undefined ? rules : [...rules, { pods: EVERYTHING, ownerKinds: [], className, record: name }];
}

/**
 * If a pod names more, its owner is not looked up: anyone can write owner references, and the API server evaluates them
 * too.
 */
export const MAX_OWNERS = 100;

/** The facts about a pod that rules match. */
export interface RuledPod {
  readonly labels: ReadonlyMap<string, string>;
  /** Kind of its controller; `undefined` without one. */
  readonly ownerKind: string | undefined;
}

/** The class that a policy gives to a pod without one, and the rule that gives it. */
export interface RuledClass {
  readonly given: PriorityClass;
  readonly record: string;
}

/** From the first rule that matches the pod and whose class exists; `undefined` if there is none (S3-9). */
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
