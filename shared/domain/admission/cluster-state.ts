import type { Selector, LabelSelector } from '#shared/domain/labels/label-selector.ts';
import type { Instant, Pod, OwnerKey } from '#shared/domain/pod/pod.ts';
import type { PriorityClasses, PriorityPolicy } from '#shared/domain/priority/classes-and-policies.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';

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
  /** Which nodes evicted pods of an owner; absent if unknown. */
  readonly avoidedBy?: AvoidLookup | undefined;
}

/** Names of the nodes whose avoid list has an entry for an owner; the longest-lasting entries come first. */
export type AvoidLookup = (owner: OwnerKey) => readonly string[];

/** Pods that were looked up for one decision. */
export interface KnownPods {
  readonly pods: readonly Pod[];
  /** There may be more pods than were read. */
  readonly isPartial: boolean;
}

/** No look-up was made, or nothing could be read. */
export const NO_KNOWN_PODS: KnownPods = { pods: [], isPartial: false };

/** Pods to look up: those of a namespace that the selector selects; `undefined` selects all. */
export interface PodSearch {
  readonly namespace: string;
  readonly selector: LabelSelector | undefined;
}
