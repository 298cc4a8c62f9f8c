import { forgetIfDeserted, occupancyOf, type ClusterSnapshot } from './cluster-snapshot.ts';
import type { Namespace } from './namespace.ts';
import type { Node } from './node.ts';
import { quantityValue } from '#shared/domain/quantity/quantity.ts';
import { nameColumns, toRow } from '#shared/domain/quantity/resource-columns.ts';
import { recountPods } from './snapshot-pods.ts';
import { scheduledAmounts } from '#shared/domain/pod/scheduled-resources.ts';

/**
 * Adds or replaces a node; pods that are already known to run there are on it. The first node with a resource takes
 * time by the pods that ask for one that no node has.
 */
export function putNode(snapshot: ClusterSnapshot, node: Node): void {
  const amounts = scheduledAmounts(node.allocatable);
  if (nameColumns(snapshot.columns, amounts.keys())) recountPods(snapshot);
  const pods = node.allocatable.get('pods');
  snapshot.nodes.set(node.name, {
    node,
    allocatable: toRow(snapshot.columns, amounts),
    allowedPods: pods === undefined ? 0 : quantityValue(pods),
    occupancy: occupancyOf(snapshot, node.name),
    sheet: undefined,
  });
}

/** Removes a node; its pods are kept in case it comes back. */
export function removeNode(snapshot: ClusterSnapshot, name: string): void {
  snapshot.nodes.delete(name);
  forgetIfDeserted(snapshot, name);
}

/** Adds or replaces a namespace. */
export function putNamespace(snapshot: ClusterSnapshot, namespace: Namespace): void {
  snapshot.namespaces.set(namespace.name, namespace.labels);
}

/** Removes a namespace. */
export function removeNamespace(snapshot: ClusterSnapshot, name: string): void {
  snapshot.namespaces.delete(name);
}
