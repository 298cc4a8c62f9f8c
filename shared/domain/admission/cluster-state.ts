import type { Selector } from '#shared/domain/model/label-selector.ts';
import type { Instant } from '#shared/domain/model/pod.ts';
import type { PriorityClasses } from '#shared/domain/priority/priority-class.ts';
import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import type { KnownPods } from './known-pods.ts';

/** What an admission decision knows of the cluster. */
export interface ClusterState {
  readonly now: Instant;
  readonly classes: PriorityClasses;
  /** In order of their names, so that the first violation told is always the same. */
  readonly policies: readonly PriorityPolicy[];
  readonly priorityQuotas: readonly PriorityQuota[];
  /** The namespaces, by their labels, in which PriorityQuotas are in force. */
  readonly quotaNamespaces: Selector;
  /** `undefined` for a namespace that has not been seen. */
  readonly namespaceLabels: (namespace: string) => ReadonlyMap<string, string> | undefined;
  readonly namespaceNames: () => Iterable<string>;
  readonly resourceQuotas: (namespace: string) => readonly ResourceQuota[];
  /** What was looked up for this one decision: pods that the pod must run beside, or that hold a quota that is full. */
  readonly knownPods: KnownPods;
}
