import type { Pod } from '#shared/domain/pod/pod.ts';
import { isSameSelector } from '#shared/domain/labels/label-selector.ts';
import { quantityValue } from '#shared/domain/quantity/quantity.ts';
import { nameColumns, toRow, scheduledAmounts } from '#shared/domain/quantity/resource-columns.ts';
import {
  type ClusterSnapshot,
  emptySnapshot,
  forgetIfDeserted,
  forgetSheet,
  type Namespace,
  occupancyOf,
} from './cluster-snapshot.ts';
import { type BudgetEntry, countsPod, type DisruptionBudget, type PlacedPod, prepareBudget } from './placed-pod.ts';
import type { Node } from './node-entry.ts';
import { nodeOrNominated, podsIn, putPod, recountPods } from './snapshot-pods.ts';

export interface ClusterObjects {
  readonly nodes: readonly Node[];
  /** Assigned and nominated pods; their order breaks ties of importance, as in Kubernetes. */
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

/**
 * Adds or replaces a budget. Changed counters cost nothing; a new or changed selector is matched against the pods of
 * the namespace.
 */
export function putBudget(snapshot: ClusterSnapshot, budget: DisruptionBudget): void {
  const { namespace, name } = budget;
  const known = snapshot.budgets.get(namespace)?.get(name);
  if (known !== undefined && isSameSelector(known.budget.selector, budget.selector)) {
    known.budget = budget;
    return;
  }
  removeBudget(snapshot, budget);
  const entry = prepareBudget(budget, snapshot.freeBudgetSlots.pop() ?? snapshot.budgetSlots.length);
  snapshot.budgetSlots[entry.slot] = entry;
  enroll(snapshot, entry);
  for (const placed of podsIn(snapshot, namespace)) {
    if (countsPod(entry, placed.pod)) change(snapshot, placed, [...placed.budgets, entry]);
  }
}

/** Removes a budget, identified by namespace and name; visits the pods of the namespace. */
export function removeBudget(snapshot: ClusterSnapshot, { namespace, name }: DisruptionBudget): void {
  const ofNamespace = snapshot.budgets.get(namespace);
  const entry = ofNamespace?.get(name);
  if (ofNamespace === undefined || entry === undefined) return;
  ofNamespace.delete(name);
  if (ofNamespace.size === 0) snapshot.budgets.delete(namespace);
  snapshot.budgetSlots[entry.slot] = undefined;
  snapshot.freeBudgetSlots.push(entry.slot);
  for (const placed of podsIn(snapshot, namespace)) {
    if (placed.budgets.includes(entry)) change(snapshot, placed, without(placed.budgets, entry));
  }
}

function enroll({ budgets }: ClusterSnapshot, entry: BudgetEntry): void {
  const { namespace, name } = entry.budget;
  const ofNamespace = budgets.get(namespace) ?? new Map<string, BudgetEntry>();
  budgets.set(namespace, ofNamespace.set(name, entry));
}

function change(snapshot: ClusterSnapshot, placed: PlacedPod, budgets: readonly BudgetEntry[]): void {
  placed.budgets = budgets;
  forgetSheet(snapshot, nodeOrNominated(placed.pod));
}

function without(budgets: readonly BudgetEntry[], entry: BudgetEntry): readonly BudgetEntry[] {
  return budgets.filter((other) => other !== entry);
}

/**
 * Adds or replaces a node, with the pods that are already known to run there. The time for the first node with a
 * resource grows with the pods that request a resource which no node has.
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

/** Removes a node; its pods are kept in case it returns. */
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
