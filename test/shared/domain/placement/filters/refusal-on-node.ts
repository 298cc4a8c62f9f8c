import { prefilter } from '#shared/domain/placement/trial/prefilter-state.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { refusalOn } from '#shared/domain/placement/trial/examine-nodes.ts';
import { buildNode, buildPod, mapOf, type NodeFields, type PodFields } from '#test/build/cluster.ts';

export const ZONE = 'topology.kubernetes.io/zone';
export const HOST = 'kubernetes.io/hostname';

interface Situation {
  readonly nodes?: readonly NodeFields[];
  readonly pods?: readonly PodFields[];
  readonly namespaces?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Why a pod does not fit on the first node, which is `n0` unless said otherwise. */
export function refusal(
  pod: Partial<PodFields>,
  { nodes = [{ name: 'n0' }], pods = [], namespaces = {} }: Situation = {},
) {
  const snapshot = createSnapshot({
    nodes: nodes.map(buildNode),
    pods: pods.map(buildPod),
    namespaces: Object.entries(namespaces).map(([name, labels]) => ({ name, labels: mapOf(labels) })),
  });
  const [entry] = snapshot.nodes.values();
  if (entry === undefined) throw new Error('the situation has no node');
  return refusalOn(prefilter(snapshot, buildPod({ name: 'incoming', ...pod })), entry);
}

export function refused(filter: string, isResolvable: boolean, ...reasons: string[]) {
  return { filter, isResolvable, reasons };
}
