import type { Pod } from '#shared/domain/pod/pod.ts';
import { keepsPodsAway, toleratesTaint } from '#shared/domain/placement/filters/node-filters.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { DRAIN_TAINTS, type Node, type Taint } from '#shared/domain/snapshot/node-entry.ts';
import { isManaged } from '#shared/kube/annotations/annotations.ts';
import type { QueuedPod } from './queued-pod.ts';

/**
 * Whether a node takes new pods: any pod (`Open`), none (`Closed`), or only those that tolerate its taints
 * (`Dedicated`). What takes no pods is no room to share.
 */
export type Openness = 'Open' | 'Closed' | 'Dedicated';

const CONTROL_PLANE = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'] as const;

/** With these a node takes no pods for a while, or is not for tenants, whatever single pods tolerate. */
const CLOSING: ReadonlySet<string> = new Set([
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/unschedulable',
  'node.kubernetes.io/out-of-service',
  'node.kubernetes.io/network-unavailable',
  'node.cloudprovider.kubernetes.io/uninitialized',
  'node.cloudprovider.kubernetes.io/shutdown',
  ...CONTROL_PLANE,
  ...DRAIN_TAINTS,
  'karpenter.sh/unregistered',
]);

/** As kube-scheduler reads a node: cordoned, not ready, or tainted against new pods. */
export function opennessOf({ isUnschedulable, isUnready, taints }: Node): Openness {
  if (isUnschedulable || isUnready === true) return 'Closed';
  const hard = taints.filter(keepsPodsAway);
  if (hard.length === 0) return 'Open';
  return hard.some(({ key }) => CLOSING.has(key)) ? 'Closed' : 'Dedicated';
}

/**
 * Whether the node is not for tenants at all. What it has is no room that is closed for now: where an autoscaler has taken
 * all other nodes away, pods have to go in for it to see them.
 */
export function isControlPlane({ taints }: Pick<Node, 'taints'>): boolean {
  return taints.some((taint) => keepsPodsAway(taint) && CONTROL_PLANE.some((key) => key === taint.key));
}

export interface PodsForPools {
  /** The pods that wait, or were let in and have no node. */
  readonly open: readonly QueuedPod[];
  readonly snapshot: Pick<ClusterSnapshot, 'namespaces' | 'nodes'>;
}

/**
 * Dedicated nodes by their taints. They count while there is a pod of queues that tolerates them. A toleration of
 * everything does not count: with it, one pod of a tenant would make every node room for all queues; nor do the pods of
 * DaemonSets, which tolerate what happens to nodes.
 */
export class Pools {
  readonly #isDaemonSetPod: (pod: Pod) => boolean;
  readonly #input: PodsForPools;
  readonly #inUse = new Map<string, boolean>();

  constructor(isDaemonSetPod: (pod: Pod) => boolean, input: PodsForPools) {
    this.#isDaemonSetPod = isDaemonSetPod;
    this.#input = input;
  }

  /** Whether there are pods of queues for nodes with the taints of this one. */
  isInUse({ taints }: Node): boolean {
    const hard = taints.filter(keepsPodsAway);
    const key = keyOf(hard);
    const known = this.#inUse.get(key) ?? this.#hasPods(hard, key);
    this.#inUse.set(key, known);
    return known;
  }

  #hasPods(taints: readonly Taint[], key: string): boolean {
    const { open, snapshot } = this.#input;
    if (open.some(({ unplaced }) => unplaced !== undefined && this.#isFor(unplaced, taints))) return true;
    const pool = [...snapshot.nodes.values()].filter(({ node }) => keyOf(node.taints.filter(keepsPodsAway)) === key);
    return pool.some(({ occupancy }) =>
      occupancy.pods.some(({ pod }) => isManaged(snapshot.namespaces.get(pod.namespace)) && this.#isFor(pod, taints)),
    );
  }

  #isFor(pod: Pod, taints: readonly Taint[]): boolean {
    const named = pod.spec.scheduling.tolerations.filter(({ key }) => key !== '');
    return named.length > 0 && taints.every((taint) => toleratesTaint(named, taint)) && !this.#isDaemonSetPod(pod);
  }
}

function keyOf(taints: readonly Taint[]): string {
  return taints
    .map(({ key, value, effect }) => `${key}=${value}:${effect}`)
    .sort()
    .join();
}
