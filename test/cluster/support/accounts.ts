import { writeFileSync } from 'node:fs';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { COMPONENT_NAMES, NAMESPACE_NODE, NAMESPACE_SYSTEM } from '#shared/kube/api-names.ts';
import { buildKubeconfig } from '#test/build/kubeconfig.ts';
import { textAt } from '#test/contract/harness.ts';

/** A service account of ours. */
export interface Account {
  readonly namespace: string;
  readonly name: string;
}

export const AGENT: Account = { namespace: NAMESPACE_NODE, name: COMPONENT_NAMES.agent };
export const WEBHOOK: Account = { namespace: NAMESPACE_SYSTEM, name: COMPONENT_NAMES.webhook };

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

/** A kubeconfig with the token. */
export function writeKubeconfig(path: string, cluster: { server: string; ca?: string }, token: string): void {
  writeFileSync(path, buildKubeconfig(cluster, { token }), { mode: 0o600 });
}
