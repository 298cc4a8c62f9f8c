import { emptySnapshot, type ClusterSnapshot } from './cluster-snapshot.ts';
import type { DisruptionBudget } from './disruption-budget.ts';
import type { Namespace } from './namespace.ts';
import type { Node } from './node.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { putBudget } from './snapshot-budgets.ts';
import { putNamespace, putNode } from './snapshot-nodes.ts';
import { putPod } from './snapshot-pods.ts';

export interface ClusterObjects {
  readonly nodes: readonly Node[];
  /** Assigned and nominated ones; their order breaks ties of importance, as in Kubernetes. */
  readonly pods: readonly Pod[];
  readonly budgets?: readonly DisruptionBudget[];
  readonly namespaces?: readonly Namespace[];
}

/** Builds a snapshot of a cluster. */
export function createSnapshot(objects: ClusterObjects): ClusterSnapshot {
  const snapshot = emptySnapshot();
  for (const namespace of objects.namespaces ?? []) putNamespace(snapshot, namespace);
  for (const node of objects.nodes) putNode(snapshot, node);
  for (const budget of objects.budgets ?? []) putBudget(snapshot, budget);
  for (const pod of objects.pods) putPod(snapshot, pod);
  return snapshot;
}
