import { haveColumns, toRow } from '#shared/domain/quantity/resource-columns.ts';
import { putBounded } from '#shared/domain/base/memoize.ts';
import { hasEnded, isBound, isKubeletRefusal, type Pod, controllerOf, ownerKeyOf } from '#shared/domain/pod/pod.ts';
import {
  addToNode,
  amountsOf,
  type BudgetEntry,
  countsPod,
  removeFromNode,
  orNone,
  type PlacedPod,
  preparePlacedPod,
} from './placed-pod.ts';
import { type ClusterSnapshot, forgetIfDeserted, forgetSheet, occupancyOf } from './cluster-snapshot.ts';

/**
 * Adds or replaces a pod: on its node, else among those nominated to a node, else not at all. Finished pods take no
 * room (`pkg/scheduler/scheduler.go` NewInformerFactory leaves them out). A replaced pod counts as newly arrived.
 */
export function putPod(snapshot: ClusterSnapshot, pod: Pod): void {
  removePod(snapshot, pod);
  noteRefusal(snapshot, pod);
  if (nodeOrNominated(pod) === '' || hasEnded(pod)) return;
  const amounts = amountsOf(pod);
  const placed = preparePlacedPod(pod, toRow(snapshot.columns, amounts), snapshot.arrivals);
  if (!haveColumns(snapshot.columns, amounts)) snapshot.uncounted.add(placed);
  snapshot.arrivals += 1;
  placed.budgets = orNone(budgetsIn(snapshot, pod.namespace).filter((budget) => countsPod(budget, pod)));
  snapshot.placedPods.set(podKey(pod), placed);
  enter(snapshot, placed);
  settle(snapshot, placed);
  forgetSheet(snapshot, nodeOrNominated(pod));
}

/** A controller whose pods a kubelet refuses keeps creating new ones, so only the latest are kept. */
const MAX_REFUSALS = 2_000;

function noteRefusal({ refusals }: ClusterSnapshot, pod: Pod): void {
  const { phase, reason = '', startTime } = pod.status;
  const owner = ownerKeyOf(pod);
  if (phase !== 'Failed' || !isKubeletRefusal(reason) || owner === undefined || startTime === undefined) return;
  putBounded(refusals, MAX_REFUSALS, [podKey(pod), { node: nodeOrNominated(pod), owner, reason, at: startTime }]);
}

/** The budgets of a namespace. */
function budgetsIn({ budgets }: ClusterSnapshot, namespace: string): readonly BudgetEntry[] {
  return Array.from(budgets.get(namespace)?.values() ?? []);
}

/** Removes a pod; does nothing if the snapshot does not have it. */
export function removePod(snapshot: ClusterSnapshot, pod: Pod): void {
  removePodByKey(snapshot, podKey(pod));
}

/** As `removePod`, if only the pod's `podKey` is known. */
export function removePodByKey(snapshot: ClusterSnapshot, key: string): void {
  snapshot.refusals.delete(key);
  const placed = snapshot.placedPods.get(key);
  if (placed === undefined) return;
  snapshot.placedPods.delete(key);
  snapshot.uncounted.delete(placed);
  snapshot.antiAffine.delete(placed);
  leave(snapshot, placed);
  unsettle(snapshot, placed);
  forgetSheet(snapshot, nodeOrNominated(placed.pod));
  forgetIfDeserted(snapshot, nodeOrNominated(placed.pod));
}

/** Counts what pods request of the resources that a node has added; the order of the pods stays. */
export function recountPods(snapshot: ClusterSnapshot): void {
  for (const placed of snapshot.uncounted) recount(snapshot, placed);
}

function recount(snapshot: ClusterSnapshot, placed: PlacedPod): void {
  const { columns, uncounted } = snapshot;
  const amounts = amountsOf(placed.pod);
  if (haveColumns(columns, amounts)) uncounted.delete(placed);
  const place = nodeOrNominated(placed.pod);
  const occupancy = occupancyOf(snapshot, place);
  if (isBound(placed.pod)) removeFromNode(occupancy, placed);
  placed.row = toRow(columns, amounts);
  if (isBound(placed.pod)) addToNode(occupancy, placed);
  forgetSheet(snapshot, place);
}

/** What identifies a pod: its UID, or its name where the object has none. */
export function podKey(pod: Pod): string {
  return pod.uid === '' ? `${pod.namespace}/${pod.name}` : pod.uid;
}

function settle(snapshot: ClusterSnapshot, placed: PlacedPod): void {
  const place = nodeOrNominated(placed.pod);
  const occupancy = occupancyOf(snapshot, place);
  if (!isBound(placed.pod)) {
    occupancy.nominated.push(placed);
    snapshot.nominatedNodes.add(place);
    return;
  }
  addToNode(occupancy, placed);
  if (placed.antiAffinity.length > 0) snapshot.antiAffine.add(placed);
}

function unsettle(snapshot: ClusterSnapshot, placed: PlacedPod): void {
  const place = nodeOrNominated(placed.pod);
  const occupancy = occupancyOf(snapshot, place);
  if (isBound(placed.pod)) {
    removeFromNode(occupancy, placed);
    return;
  }
  occupancy.nominated.splice(occupancy.nominated.indexOf(placed), 1);
  if (occupancy.nominated.length === 0) snapshot.nominatedNodes.delete(place);
}

/** The node that the pod is on or nominated to; empty if there is none. */
export function nodeOrNominated(pod: Pod): string {
  return (isBound(pod) ? pod.spec.nodeName : pod.status.nominatedNodeName) ?? '';
}

/** The pods of a namespace. */
export function* podsIn({ podsByNamespace }: ClusterSnapshot, namespace: string): Generator<PlacedPod> {
  for (const pods of podsByNamespace.get(namespace)?.values() ?? []) yield* pods;
}

/** The pods of a namespace whose controller has a UID; those without a controller where it is empty. */
export function podsOfController(
  { podsByNamespace }: ClusterSnapshot,
  namespace: string,
  uid: string,
): Iterable<PlacedPod> {
  return podsByNamespace.get(namespace)?.get(uid) ?? [];
}

/** Records that the snapshot has a new pod. */
function enter({ podsByNamespace }: ClusterSnapshot, placed: PlacedPod): void {
  const { namespace } = placed.pod;
  const uid = controllerOf(placed.pod)?.uid ?? '';
  const ofNamespace = podsByNamespace.get(namespace) ?? new Map<string, Set<PlacedPod>>();
  podsByNamespace.set(namespace, ofNamespace);
  const pods = ofNamespace.get(uid);
  if (pods === undefined) ofNamespace.set(uid, new Set([placed]));
  else pods.add(placed);
}

/** Records that a pod has left the snapshot. */
function leave({ podsByNamespace }: ClusterSnapshot, placed: PlacedPod): void {
  const { namespace } = placed.pod;
  const uid = controllerOf(placed.pod)?.uid ?? '';
  const ofNamespace = podsByNamespace.get(namespace);
  const pods = ofNamespace?.get(uid);
  pods?.delete(placed);
  if (pods?.size === 0) ofNamespace?.delete(uid);
  if (ofNamespace?.size === 0) podsByNamespace.delete(namespace);
}
