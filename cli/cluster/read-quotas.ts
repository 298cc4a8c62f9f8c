import { PRIORITY_QUOTAS, resourceLabel, RESOURCE_QUOTAS } from '#shared/kube/resource.ts';
import type { ProcessIo } from '#cli/process-io.ts';
import type { ClusterOptions } from './cluster-options.ts';
import { type ClusterManifests, readManifests } from './read-manifests.ts';

/** The PriorityQuotas of a cluster, and the ResourceQuotas of one namespace. */
export interface ReadQuotas extends ClusterManifests {
  /** Kinds that the caller may not list. */
  readonly hidden: readonly string[];
}

/** Reads them from files, else from the cluster; the namespace is by default that of the context. */
export async function readQuotas(
  options: ClusterOptions & { readonly namespace?: string | undefined },
  io: Pick<ProcessIo, 'standardInput' | 'now'>,
): Promise<ReadQuotas> {
  if (options.filename !== undefined) {
    const read = await readManifests(options, [], io);
    return { ...read, namespace: options.namespace ?? read.namespace, hidden: [] };
  }
  const [{ withCluster }, { listPermitted }] = await Promise.all([
    import('./open-cluster.ts'),
    import('./list-all.ts'),
  ]);
  return withCluster(options, async ({ client, namespace: ofContext = 'default' }) => {
    const namespace = options.namespace ?? ofContext;
    const { manifests, refused } = await listPermitted(client, [
      { resource: PRIORITY_QUOTAS },
      { resource: RESOURCE_QUOTAS, namespace },
    ]);
    return { manifests, now: io.now(), namespace, hidden: refused.map(({ resource }) => resourceLabel(resource)) };
  });
}
