import type { Amounts } from '#shared/domain/model/amounts.ts';
import type { Selector } from '#shared/domain/model/label-selector.ts';
import type { Pod } from '#shared/domain/model/pod.ts';

/** Which pods a PriorityQuota counts. */
export type PriorityScope =
  | { readonly kind: 'classes'; readonly names: ReadonlySet<string> }
  | { readonly kind: 'range'; readonly min: number; readonly max: number };

/** A PriorityQuota as the decisions see it: what pods of some priorities may ask for together, over many namespaces. */
export interface PriorityQuota {
  readonly name: string;
  readonly namespaces: Selector;
  readonly scope: PriorityScope;
  readonly hard: Amounts;
}

/** Whether the quota counts a pod: by its class name, or by its priority (0 where it has none). */
export function countsPod(scope: PriorityScope, pod: Pod): boolean {
  if (scope.kind === 'classes') return scope.names.has(pod.spec.priorityClassName ?? '');
  const priority = pod.spec.priority ?? 0;
  return priority >= scope.min && priority <= scope.max;
}
