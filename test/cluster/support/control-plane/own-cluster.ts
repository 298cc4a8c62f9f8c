import { afterAll, beforeAll } from 'vitest';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import type { ClusterConnection } from '#shared/kube/client/connection.ts';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';
import { findBinaries } from './binaries.ts';
import { type Cluster, type ClusterOptions, startCluster } from './cluster.ts';
import type { Environment } from './go-programs.ts';

/** A control plane that one file has for itself; there from the first `beforeAll` on. */
export interface OwnCluster {
  readonly cluster: Cluster;
  readonly connection: ClusterConnection;
  readonly admin: KubeClient;
}

/** Why tests on a control plane of their own are left out, for the name of their group. */
export function whyNoOwnCluster(env: Environment): string | undefined {
  if (env['PLIMSOLL_TEST_KUBECONFIG'] !== undefined)
    return ' (not run: PLIMSOLL_TEST_KUBECONFIG names the cluster to test on)';
  const binaries = findBinaries(env);
  return binaries.kind === 'missing' ? ` (not run: ${binaries.because})` : undefined;
}

/** Registers hooks of the present `describe` that start and end a control plane; what it is like is asked for just before. */
export function ownCluster(optionsOf: () => Promise<ClusterOptions> = () => Promise.resolve({})): () => OwnCluster {
  let own: OwnCluster | undefined;
  beforeAll(async () => {
    const startup = await startCluster(await optionsOf());
    if (startup.kind === 'missing') throw new Error(startup.because);
    const connection = await kubeconfigConnection(startup.cluster.kubeconfig);
    const admin = createClient(connection, { userAgent: 'plimsoll-test' });
    own = { cluster: startup.cluster, connection, admin };
  });
  afterAll(async () => {
    own?.admin.close();
    await own?.cluster.close();
  });
  return () => {
    if (own === undefined) throw new Error('the control plane is not up');
    return own;
  };
}
