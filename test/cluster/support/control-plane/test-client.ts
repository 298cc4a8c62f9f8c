import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';

/** A client with whatever rights the kubeconfig gives; to be closed. Rejects when there is none. */
export async function testClient(kubeconfig: string): Promise<KubeClient> {
  return createClient(await kubeconfigConnection(kubeconfig), { userAgent: 'plimsoll-test' });
}
