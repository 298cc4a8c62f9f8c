import type { Selector } from '#shared/domain/model/label-selector.ts';

/** Somebody a policy holds for. */
export type Subject =
  | { readonly kind: 'User'; readonly name: string }
  | { readonly kind: 'Group'; readonly name: string }
  | { readonly kind: 'ServiceAccount'; readonly name: string; readonly namespace: string };

/** A PriorityPolicy as the decisions see it: which classes the pods of some namespaces and people may use. */
export interface PriorityPolicy {
  readonly name: string;
  readonly namespaces: Selector;
  /** Empty means everybody. */
  readonly subjects: readonly Subject[];
  readonly defaultClassName: string | undefined;
  /** `undefined` allows every class. */
  readonly allowedClassNames: readonly string[] | undefined;
  readonly maxPriority: number | undefined;
  readonly preemption: 'Allow' | 'Never';
  /** Class that preempts → class that a pod gets instead. */
  readonly substitutes: ReadonlyMap<string, string>;
  readonly requireQuotaFor: readonly string[];
  readonly onViolation: 'Deny' | 'Warn';
}
