import { afterAll, beforeAll, expect } from 'vitest';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { type Account, accountClient, AGENT } from '#test/cluster/support/accounts.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { installPlimsoll } from '#test/cluster/support/install.ts';
import { type OwnCluster, ownCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { textAt } from '#test/contract/harness.ts';
import { eventually } from '#test/build/waiting.ts';

export const OWN_NODE = 'node-0';
export const OTHER_NODE = 'node-1';

/** A control plane with deploy/base applied and two nodes without kubelets. */
export interface InstalledCluster {
  readonly own: () => OwnCluster;
  /** Speaks with a token of the account, as its pod does if one is named. */
  readonly clientOf: (account: Account, podName?: string) => Promise<KubeClient>;
  /** The DaemonSet's pod there: it has passed quota and pod security, and the scheduler has placed it. */
  readonly agentPodOn: (node: string) => Promise<string>;
}

/** Registers hooks of the present `describe` that start and end it. */
export function installedCluster(): InstalledCluster {
  const own = ownCluster();
  const clients: KubeClient[] = [];
  beforeAll(async () => {
    const { admin, cluster } = own();
    await installPlimsoll(cluster.kubeconfig);
    await makeFakeNodes(admin, 'node', 2);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(2), 20_000);
  });
  afterAll(() => {
    for (const client of clients) client.close();
  });
  return {
    own,
    clientOf: async (account, podName) => {
      const client = await accountClient(own(), account, podName);
      clients.push(client);
      return client;
    },
    agentPodOn: (node) =>
      eventually(async () => {
        const path = `/api/v1/namespaces/${AGENT.namespace}/pods`;
        const found = await own().admin.request({ path, query: { fieldSelector: `spec.nodeName=${node}` } });
        return textAt(found.kind === 'ok' ? found.object : found, 'items.0.metadata.name');
      }, 40_000),
  };
}

export function post(client: KubeClient, path: string, body: object): Promise<Outcome<unknown>> {
  return client.request({ method: 'POST', path, body });
}

/** Asks for the eviction of the pod `NAMESPACE/NAME`. */
export function evict(client: KubeClient, path: string, deleteOptions: object): Promise<Outcome<unknown>> {
  const [namespace = '', name = ''] = path.split('/');
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, deleteOptions };
  return post(client, `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, body);
}
