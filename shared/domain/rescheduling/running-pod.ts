import { criticalProtection, protectionOf, type ProtectionRules } from '#shared/domain/eviction/protection.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { hasEnded, controllerOf, isLocalVolume, ownerText, type Pod } from '#shared/domain/pod/pod.ts';
import { unmodelledNeeds, unmodelledStorage } from '#shared/domain/placement/trial/prefilter-state.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { REASONS } from './messages.ts';
import type { OwnerGroup } from './owner-groups.ts';
import type { PassCluster, PassNode } from './pass-cluster.ts';

declare const isRunning: unique symbol;

/**
 * A running pod that may be moved. Only `runningPod` creates one, so that no policy can name a pending pod, make room
 * for one, or ignore a protection (S0-30).
 */
export interface MovablePod {
  readonly [isRunning]: true;
  readonly placed: PlacedPod;
  readonly node: PassNode;
  readonly owner: OwnerGroup;
}

/** Which pods are never moved, and whether a pod must be known to fit elsewhere. */
export interface MoveRules extends ProtectionRules {
  readonly fitElsewhere: boolean;
}

export type Movable =
  { readonly kind: 'movable'; readonly pod: MovablePod } | { readonly kind: 'stays'; readonly because: Because };

/**
 * A pod that a policy may move, or why it is never moved; `undefined` for a pod that is not running or already
 * terminating.
 */
export function runningPod(
  cluster: PassCluster,
  [placed, node]: readonly [PlacedPod, PassNode],
  rules: MoveRules,
): Movable | undefined {
  if (!runsOn(placed, node)) return undefined;
  const because = whyNever(cluster, [placed, node], rules);
  if (because !== undefined) return { kind: 'stays', because };
  const owner = cluster.owners.of(placed.pod);
  if (owner === undefined) return { kind: 'stays', because: REASONS.noController({}) };
  return { kind: 'movable', pod: { placed, node, owner } as MovablePod };
}

/** Whether `runningPod` would return a movable pod, without looking up the owner. */
export function isMovable(
  cluster: PassCluster,
  [placed, node]: readonly [PlacedPod, PassNode],
  rules: MoveRules,
): boolean {
  if (!runsOn(placed, node) || controllerOf(placed.pod) === undefined) return false;
  return whyNever(cluster, [placed, node], rules) === undefined;
}

/** Whether the pod is running on the node and not terminating. */
export function runsOn({ pod }: PlacedPod, { name }: PassNode): boolean {
  return pod.deletion === undefined && !hasEnded(pod) && pod.spec.nodeName === name;
}

function whyNever(
  { snapshot }: PassCluster,
  [placed, node]: readonly [PlacedPod, PassNode],
  rules: MoveRules,
): Because | undefined {
  const { pod } = placed;
  return node.closed ?? criticalProtection(pod) ?? protectionOf(pod, rules) ?? whyBound(placed, snapshot, rules);
}

/** Why a pod is bound to its node, or why it is unknown whether another node fits. */
function whyBound(placed: PlacedPod, snapshot: ClusterSnapshot, { fitElsewhere }: MoveRules): Because | undefined {
  const { pod } = placed;
  const byOwner = whyOfOwner(pod);
  if (byOwner !== undefined) return byOwner;
  const local = pod.spec.volumes.find(isLocalVolume);
  if (local !== undefined) return REASONS.localVolume({ volume: local.name });
  if (!fitElsewhere) return undefined;
  const [unknown] = snapshot.uncounted.has(placed) ? unmodelledNeeds(pod, snapshot) : unmodelledStorage(pod);
  return unknown === undefined ? undefined : REASONS.notSeenToFit({ need: `${unknown.kind} ${unknown.name}` });
}

/**
 * Why the controller of the pod cannot replace it elsewhere without loss. A Job, whoever defines it, counts a removed pod
 * as failed up to its `backoffLimit`, and so do others whose pods are not restarted. The pod of a virtual machine is its process. Of the core
 * objects that may own a pod, such as its node, only a ReplicationController makes another one.
 */
function whyOfOwner({ namespace, owners, spec }: Pod): Because | undefined {
  const controller = controllerOf({ owners });
  if (controller === undefined) return undefined;
  const { kind, apiVersion } = controller;
  const owner = ownerText({ ...controller, namespace });
  if (kind === 'DaemonSet') return REASONS.daemonSet({});
  if (apiVersion === 'v1' && kind !== 'ReplicationController') return REASONS.noController({});
  if (apiVersion.startsWith('kubevirt.io/')) return REASONS.virtualMachine({ owner });
  return kind.endsWith('Job') || spec.restartPolicy !== undefined ? REASONS.endingPod({ owner }) : undefined;
}
