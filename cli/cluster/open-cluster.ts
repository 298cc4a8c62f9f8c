import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { computePodsAsServer } from '#shared/kube/client/server-version.ts';
import type { ClusterConnection } from '#shared/kube/client/connection.ts';
import type { KubeconfigOverrides } from '#shared/kube/client/kubeconfig-choice.ts';
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
  readonly connection: ClusterConnection;
}

/** Hands the cluster of a kubeconfig to `use`, and closes it. Rejects with an InputError if it cannot be used. */
export async function withCluster<T>(options: ClusterOptions, use: (cluster: OpenCluster) => Promise<T>): Promise<T> {
  const { kubeconfig, context, requestTimeout = TIMEOUT_MS } = options;
  const connection = await kubeconfigConnection(kubeconfig, context, overridesOf(options)).catch(asInputError(options));
  const client = createClient(connection, { userAgent: 'plimsoll', timeoutMs: requestTimeout });
  try {
    // A command that cannot read the version says so where it needs the cluster.
    await computePodsAsServer(client).catch(() => undefined);
    const { namespace, server, origin, token } = connection;
    return await use({ client, namespace, server, origin, token, connection });
  } finally {
    client.close();
  }
}

function overridesOf(options: ClusterOptions): KubeconfigOverrides {
  const { as, asUid, asGroup: asGroups, asUserExtra: asExtra } = options;
  const { cluster, user, server, token, insecureSkipTlsVerify: skipTlsVerify } = options;
  return { as, asUid, asGroups, asExtra, cluster, user, server, token, skipTlsVerify };
}

/** Without a user to act as in the kubeconfig, the flag is what is wrong. */
function asInputError({ as, asGroup }: ClusterOptions): (error: unknown) => never {
  return (error) => {
    if (as === undefined && asGroup !== undefined) throw new InputError("option '--as-group' needs '--as'");
    throw new InputError(errorText(error), { cause: error });
  };
}
