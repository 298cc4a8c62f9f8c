import { clusterModel, type ClusterModel } from '#cli/cluster/cluster-model.ts';
import type { ClusterManifests } from '#cli/cluster/read-manifests.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { WildCluster } from './wild-cluster.ts';

/** The cluster as files that the command line reads. */
export function manifestsOf({ now, ...lists }: WildCluster): ClusterManifests {
  const objects = Object.values(lists).flat();
  return { manifests: objects.map((raw) => ({ ...typeOf(raw), raw, where: 'wild' })), now, namespace: 'default' };
}

function typeOf({ apiVersion = '', kind = '' }: KubeObject) {
  return { apiVersion, kind };
}

export function modelOf(cluster: WildCluster): ClusterModel {
  return clusterModel(manifestsOf(cluster));
}
