import type { KubeClient } from '#shared/kube/client/client.ts';
import { call } from './kube-calls.ts';
import { NODE_NAME } from './node-place.ts';

interface Summary {
  readonly node: { readonly memory: { readonly availableBytes: number } };
  readonly pods: readonly {
    readonly podRef: { readonly namespace: string; readonly name: string };
    readonly memory?: { readonly workingSetBytes?: number };
  }[];
}

/** What the kubelet measures. */
export interface KubeletStatistics {
  readonly availableBytes: number;
  /** By `NAMESPACE/NAME`. */
  readonly workingSets: ReadonlyMap<string, number>;
}

/** The kubelet's `/stats/summary`, by way of the API server; its figures are up to 16 s old. */
export async function askKubelet(client: KubeClient): Promise<KubeletStatistics> {
  const path = `/api/v1/nodes/${NODE_NAME}/proxy/stats/summary`;
  const { node, pods } = (await call(client, { path })) as Summary;
  const workingSets = pods.map(
    ({ podRef, memory }) => [`${podRef.namespace}/${podRef.name}`, memory?.workingSetBytes ?? NaN] as const,
  );
  return { availableBytes: node.memory.availableBytes, workingSets: new Map(workingSets) };
}
