import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import type { PreparedSelector } from '#shared/domain/labels/label-selector.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';

/** Which pods a PriorityQuota counts. */
export type PriorityScope =
  | { readonly kind: 'classes'; readonly names: ReadonlySet<string> }
  | { readonly kind: 'range'; readonly min: number; readonly max: number };

/**
 * A PriorityQuota as decisions use it: a limit on what pods of some priorities may request together, across namespaces.
 */
export interface PriorityQuota {
  readonly name: string;
  readonly namespaces: PreparedSelector;
  readonly scope: PriorityScope;
  readonly hard: Amounts;
  /** What a container costs that does not state the value, by resource name of `hard`; without it, the pod is refused. */
  readonly defaultRequest: Amounts;
  /** Refuses the pods that it counts in selected namespaces where it is not in force. */
  readonly requireLabel: boolean;
}

/** A priority and its class; empty without a class. */
export interface PriorityLevel {
  readonly className: string;
  readonly priority: number;
}

/** Whether a quota of this scope counts pods of a level. */
export function isInScope(scope: PriorityScope, { className, priority }: PriorityLevel): boolean {
  if (scope.kind === 'classes') return scope.names.has(className);
  return priority >= scope.min && priority <= scope.max;
}

/** Whether the quota counts a pod: by its class name, or by its priority (0 where it has none). */
export function countsPod(scope: PriorityScope, { spec }: Pod): boolean {
  return isInScope(scope, { className: spec.priorityClassName ?? '', priority: spec.priority ?? 0 });
}
