import type { KubeClient } from '#shared/kube/client/client.ts';
import type { ClusterConnection } from '#shared/kube/client/connection.ts';
import { hostPort } from '#shared/runtime/host-port.ts';
import { registerFully } from '#webhook/registration/registration.ts';
import { LOOPBACK } from '#test/build/loopback.ts';
import { accountKubeconfig, WEBHOOK } from './accounts.ts';
import { freePorts } from './free-ports.ts';
import { startWebhookProcess, type WebhookProcess } from './webhook-process.ts';

export interface InstalledWebhookOptions {
  /** Of the run it ends with. */
  readonly folder: string;
  /** An administrator, who registers it. */
  readonly client: KubeClient;
  readonly connection: ClusterConnection;
  /** Of the validating entries. */
  readonly failurePolicy: 'Ignore' | 'Fail';
  /** Fields of the WebhookConfiguration. */
  readonly settings?: object;
}

/** As long as the certificates of the control plane. */
const TOKEN_SECONDS = 7 * 24 * 3_600;

/**
 * Starts the webhook of deploy/base, which must be applied, with the rights of its own account. Nothing carries traffic
 * to its Service without a node, so it is registered by address.
 */
export async function startInstalledWebhook(options: InstalledWebhookOptions): Promise<WebhookProcess> {
  const { folder, client, connection, failurePolicy, settings } = options;
  const [port = 0] = await freePorts(1);
  const target = { kind: 'url', url: `https://${hostPort(LOOPBACK, port)}` } as const;
  await registerFully(client, { target, failurePolicy, gatedCallers: [] });
  const own = { admin: client, cluster: { folder }, connection };
  const kubeconfig = await accountKubeconfig(own, WEBHOOK, { expirationSeconds: TOKEN_SECONDS });
  return startWebhookProcess({ folder, kubeconfig }, { port, ...settings });
}
