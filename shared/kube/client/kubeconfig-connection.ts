import { Agent, type RequestOptions } from 'node:https';
import type { Cluster, KubeConfig } from '@kubernetes/client-node';
import type { ClusterConnection } from './connection.ts';
import { proxyOf } from './proxy.ts';

/**
 * The connection that a kubeconfig describes: `path`, else `$KUBECONFIG`, else `~/.kube/config`; `context`, else the current one.
 * Certificates, exec plugins and token providers are the client library's work; it is loaded here and nowhere else,
 * because importing it costs 75 MiB. Throws one sentence when the file cannot be used.
 */
export async function kubeconfigConnection(path?: string, context?: string): Promise<ClusterConnection> {
  const { config, cluster, isProxied } = await loadUsable(path, context);
  const options = await authenticate(config);
  const namespace = config.getContextObject(config.getCurrentContext())?.namespace;
  return {
    server: cluster.server,
    origin: { context: config.getCurrentContext(), cluster: cluster.name },
    token: () => bearerToken(config),
    ...tlsOf(cluster, options),
    ...impersonationOf(options),
    ...(namespace === undefined ? {} : { namespace }),
    ...(isProxied && options.agent instanceof Agent ? { proxyAgent: options.agent } : {}),
  };
}

/** The same as the client library has it, for what it alone can do. Throws likewise. */
export async function loadKubeconfig(path?: string, context?: string): Promise<KubeConfig> {
  return (await loadUsable(path, context)).config;
}

interface Usable {
  readonly config: KubeConfig;
  readonly cluster: Cluster;
  readonly isProxied: boolean;
}

async function loadUsable(path: string | undefined, context: string | undefined): Promise<Usable> {
  const config = await load(path, context);
  const cluster = config.getCurrentCluster();
  if (cluster === null)
    throw new Error(`no usable cluster in ${describe(path)}: context "${config.getCurrentContext()}"`);
  if (path === undefined && cluster.server === SERVER_WITHOUT_KUBECONFIG) throw new Error(NO_KUBECONFIG);
  return { config, cluster, isProxied: useProxy(config, cluster) };
}

/** What the client library falls back to where there is no kubeconfig, as kubectl does. */
const SERVER_WITHOUT_KUBECONFIG = 'http://localhost:8080';
const NO_KUBECONFIG =
  'no kubeconfig: neither $KUBECONFIG nor ~/.kube/config names a cluster; name a file with --kubeconfig';

/** Whether there is a proxy to the cluster: of the kubeconfig, else of the environment. */
function useProxy(config: KubeConfig, cluster: Cluster): boolean {
  const proxyUrl = cluster.proxyUrl ?? proxyOf(cluster.server, process.env);
  if (proxyUrl === undefined) return false;
  if (!URL.canParse(proxyUrl))
    throw new Error(`unusable proxy "${proxyUrl}": expected a URL such as http://proxy:3128`);
  config.clusters = config.clusters.map((each) => (each === cluster ? { ...each, proxyUrl } : each));
  return true;
}

async function load(path: string | undefined, context: string | undefined): Promise<KubeConfig> {
  const library = await import('@kubernetes/client-node');
  const config = new library.KubeConfig();
  try {
    if (path === undefined) config.loadFromDefault();
    else config.loadFromFile(path);
  } catch (error) {
    throw new Error(`cannot read ${describe(path)}: ${firstLine(error)}`, { cause: error });
  }
  if (context !== undefined) useContext(config, context, describe(path));
  return config;
}

function useContext(config: KubeConfig, context: string, source: string): void {
  const names = config.getContexts().map((known) => known.name);
  if (!names.includes(context)) {
    throw new Error(
      `no context "${context}" in ${source}: it has ${names.map((name) => `"${name}"`).join(', ') || 'none'}`,
    );
  }
  config.setCurrentContext(context);
}

async function authenticate(config: KubeConfig): Promise<RequestOptions> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  return options;
}

/** Exec plugins renew what they gave out; asking them each time is cheap, they keep it until it expires. */
async function bearerToken(config: KubeConfig): Promise<string> {
  const { headers } = await authenticate(config);
  const header = headers !== undefined && 'Authorization' in headers ? headers['Authorization'] : undefined;
  return typeof header === 'string' ? header.replace(/^Bearer /, '') : '';
}

/** The user that the kubeconfig says to act as; `as-groups` is not known to the library. */
function impersonationOf({ headers }: RequestOptions): Pick<ClusterConnection, 'impersonate'> {
  const user = headers !== undefined && 'Impersonate-User' in headers ? headers['Impersonate-User'] : undefined;
  return typeof user === 'string' ? { impersonate: { user, groups: [] } } : {};
}

function tlsOf(cluster: Cluster, options: RequestOptions): Partial<ClusterConnection> {
  return {
    ...pem('ca', options.ca),
    ...authorityFile(cluster),
    ...pem('clientCertificate', options.cert),
    ...pem('clientKey', options.key),
    ...(options.servername === undefined ? {} : { serverName: options.servername }),
    ...(cluster.skipTLSVerify ? { skipTlsVerify: true } : {}),
  };
}

/** The library prefers data in the kubeconfig itself. */
function authorityFile({ caData, caFile }: Cluster): Pick<ClusterConnection, 'caFile'> {
  return caFile === undefined || caData !== undefined ? {} : { caFile };
}

function pem(field: 'ca' | 'clientCertificate' | 'clientKey', value: unknown): Partial<ClusterConnection> {
  if (typeof value === 'string') return { [field]: value };
  return Buffer.isBuffer(value) ? { [field]: value.toString('utf8') } : {};
}

function describe(path: string | undefined): string {
  return path === undefined ? 'the default kubeconfig' : `kubeconfig "${path}"`;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
