import { type ClusterConnection, environmentConnection, inClusterConnection } from './connection.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The way to the API server: a kubeconfig where one is named, else what the sandbox hands its children, else what every
 * pod has. Only the first loads the client library, which costs 75 MiB.
 */
export async function connect(kubeconfig: string | undefined, env: Environment): Promise<ClusterConnection> {
  if (kubeconfig !== undefined) {
    const { kubeconfigConnection } = await import('./kubeconfig-connection.ts');
    return kubeconfigConnection(kubeconfig);
  }
  return environmentConnection(env) ?? inClusterConnection(env);
}
