import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { COMPONENT_NAMES, CONTROLLER, NAMESPACE_NODE, NAMESPACE_SYSTEM } from '#shared/kube/api-names.ts';
import { buildKubeconfig } from '#test/build/kubeconfig.ts';
import { textAt } from '#test/contract/harness.ts';
import type { Cluster } from './control-plane/cluster.ts';
import type { OwnCluster } from './control-plane/own-cluster.ts';

/** A service account of ours. */
export interface Account {
  readonly namespace: string;
  readonly name: string;
}

export const AGENT: Account = { namespace: NAMESPACE_NODE, name: COMPONENT_NAMES.agent };
export const WEBHOOK: Account = { namespace: NAMESPACE_SYSTEM, name: COMPONENT_NAMES.webhook };
/** Of deploy/components/queues. */
export const QUEUE_ACCOUNT: Account = { namespace: NAMESPACE_SYSTEM, name: CONTROLLER };

const HOUR_SECONDS = 3_600;

/** A token of an account as the kubelet asks for it: bound to a pod, unless there is none. */
export async function accountToken(
  admin: KubeClient,
  { namespace, name }: Account,
  podName?: string,
  expirationSeconds = HOUR_SECONDS,
): Promise<string> {
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: podName };
  const outcome = await admin.request({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    body: { spec: { expirationSeconds, ...(podName !== undefined && { boundObjectRef }) } },
  });
  if (outcome.kind !== 'ok') throw new Error(`cannot get a token of ${name}: ${outcome.message}`);
  return textAt(outcome.object, 'status.token');
}

/** A control plane, and an administrator of it. */
interface AdministeredCluster extends Pick<OwnCluster, 'admin' | 'connection'> {
  readonly cluster: Pick<Cluster, 'folder'>;
}

/** Writes a kubeconfig with a token of an account among the files of the cluster, named after the account; returns its path. */
export async function accountKubeconfig(
  { admin, cluster, connection }: AdministeredCluster,
  account: Account,
  { podName, expirationSeconds }: { readonly podName?: string; readonly expirationSeconds?: number } = {},
): Promise<string> {
  const path = join(cluster.folder, `${account.name}.kubeconfig`);
  writeKubeconfig(path, connection, await accountToken(admin, account, podName, expirationSeconds));
  return path;
}

/** A client with a token of an account; to be closed. */
export async function accountClient(
  { admin, connection }: Pick<OwnCluster, 'admin' | 'connection'>,
  account: Account,
  podName?: string,
): Promise<KubeClient> {
  const token = await accountToken(admin, account, podName);
  return createClient({ ...connection, token: () => Promise.resolve(token) }, { userAgent: 'test' });
}

/** A kubeconfig with the token. */
export function writeKubeconfig(path: string, cluster: { server: string; ca?: string }, token: string): void {
  writeFileSync(path, buildKubeconfig(cluster, { token }), { mode: 0o600 });
}
