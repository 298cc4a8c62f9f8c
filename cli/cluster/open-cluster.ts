import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { computePodsAsServer } from '#shared/kube/client/server-version.ts';
import type { ClusterConnection } from '#shared/kube/client/connection.ts';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { InputError } from '#cli/process-io.ts';
import type { ClusterOptions } from './cluster-options.ts';

const TIMEOUT_MS = 20_000;

/** A cluster that a kubeconfig names. */
export interface OpenCluster {
  readonly client: KubeClient;
  /** The context's namespace. */
  readonly namespace: string | undefined;
  readonly server: string;
  readonly origin: ClusterConnection['origin'];
  /** Our own bearer token; empty if we authenticate in another way. */
  readonly token: ClusterConnection['token'];
}

/** Hands the cluster of a kubeconfig to `use`, and closes it. Rejects with an InputError if it cannot be used. */
export async function withCluster<T>(options: ClusterOptions, use: (cluster: OpenCluster) => Promise<T>): Promise<T> {
  const { kubeconfig, context, requestTimeout = TIMEOUT_MS } = options;
  const impersonation = impersonationOf(options);
  const connection = await kubeconfigConnection(kubeconfig, context).catch(asInputError);
  const client = createClient(
    { ...connection, ...impersonation },
    { userAgent: 'plimsoll', timeoutMs: requestTimeout },
  );
  try {
    // A command that cannot read the version says so where it needs the cluster.
    await computePodsAsServer(client).catch(() => undefined);
    const { namespace, server, origin, token } = connection;
    return await use({ client, namespace, server, origin, token });
  } finally {
    client.close();
  }
}

function impersonationOf({ as: user, asGroup: groups }: ClusterOptions): Pick<ClusterConnection, 'impersonate'> {
  if (user !== undefined) return { impersonate: { user, groups: groups ?? [] } };
  if (groups !== undefined) throw new InputError("option '--as-group' needs '--as'");
  return {};
}

function asInputError(error: unknown): never {
  throw new InputError(errorText(error), { cause: error });
}
