import type { Selector } from '#shared/domain/labels/label-selector.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { PriorityClasses } from '#shared/domain/priority/priority-class.ts';
import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import type { AvoidLookup } from './choose-nodes.ts';
import type { KnownPods } from './known-pods.ts';

/** What an admission decision knows about the cluster. */
export interface ClusterState {
  readonly now: Instant;
  readonly classes: PriorityClasses;
  /** Sorted by name, so that the first violation reported is always the same. */
  readonly policies: readonly PriorityPolicy[];
  readonly priorityQuotas: readonly PriorityQuota[];
  /** Selects the namespaces in which PriorityQuotas are enforced. */
  readonly quotaNamespaces: Selector;
  /** The label by which they are selected, for messages. */
  readonly quotaLabel: string;
  /** `undefined` for an unknown namespace. */
  readonly namespaceLabels: (namespace: string) => ReadonlyMap<string, string> | undefined;
  readonly namespaceNames: () => Iterable<string>;
  readonly resourceQuotas: (namespace: string) => readonly ResourceQuota[];
  /**
   * Pods looked up for this decision: those that the new pod must be co-located with, or the largest holders of a full
   * quota.
   */
  readonly knownPods: KnownPods;
  /** Which nodes evicted pods of an owner; absent where that is not known. */
  readonly avoidedBy?: AvoidLookup | undefined;
}
