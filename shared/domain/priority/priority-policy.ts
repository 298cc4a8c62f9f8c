import type { PreparedSelector } from '#shared/domain/labels/label-selector.ts';
import type { ClassRule } from './class-rules.ts';

/** A subject that a policy applies to. */
export type Subject =
  | { readonly kind: 'User'; readonly name: string }
  | { readonly kind: 'Group'; readonly name: string }
  | { readonly kind: 'ServiceAccount'; readonly name: string; readonly namespace: string };

/** A PriorityPolicy as the decisions see it: which classes the pods of some namespaces and people may use. */
export interface PriorityPolicy {
  readonly name: string;
  readonly namespaces: PreparedSelector;
  /** Empty means everyone. */
  readonly subjects: readonly Subject[];
  readonly defaultClassName: string | undefined;
  /** The first that takes a pod without a class gives its own, in place of the default. */
  readonly classRules: readonly ClassRule[];
  /** `undefined` allows every class. */
  readonly allowedClassNames: readonly string[] | undefined;
  readonly maxPriority: number | undefined;
  readonly preemption: 'Allow' | 'Never';
  /** Class that preempts → class that a pod gets instead. */
  readonly substitutes: ReadonlyMap<string, string>;
  readonly requireQuotaFor: readonly string[];
  readonly onViolation: 'Deny' | 'Warn';
  /** Given to pods that name no scheduler of their own. */
  readonly schedulerName: string | undefined;
}

/** Users and groups are not known at a pod that a controller creates; service accounts are, for the pod names its own. */
export function isPersonal({ subjects }: PriorityPolicy): boolean {
  return subjects.some(({ kind }) => kind !== 'ServiceAccount');
}
