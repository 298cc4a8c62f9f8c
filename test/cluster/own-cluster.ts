import { afterAll, beforeAll } from 'vitest';
import { createClient, type KubeClient } from '#shared/kube/client.ts';
import type { ClusterConnection } from '#shared/kube/connection.ts';
import { kubeconfigConnection } from '#shared/kube/kubeconfig-connection.ts';
import { type Cluster, startCluster } from './cluster.ts';

/** A control plane that one file has for itself; there from the first `beforeAll` on. */
export interface OwnCluster {
  readonly cluster: Cluster;
  readonly connection: ClusterConnection;
  readonly admin: KubeClient;
}

/** Registers hooks of the present `describe` that start and end a control plane. */
export function ownCluster(): () => OwnCluster {
  let own: OwnCluster | undefined;
  beforeAll(async () => {
    const startup = await startCluster();
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
