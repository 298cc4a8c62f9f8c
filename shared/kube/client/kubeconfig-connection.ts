import { Agent, type RequestOptions } from 'node:https';
import { BlockList, isIP } from 'node:net';
import type { Cluster, KubeConfig } from '@kubernetes/client-node';
import type { ClusterConnection } from './connection.ts';

/**
 * The connection that a kubeconfig describes: `path`, else `$KUBECONFIG`, else `~/.kube/config`; `context`, else the
 * current one. The client library handles certificates, exec plugins and token providers. It is loaded only here,
 * because importing it costs 75 MiB. Throws a one-sentence error if the file cannot be used.
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

/** The same as the client library's object, for features that only the library has. Throws likewise. */
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

/** The client library's default if there is no kubeconfig, as in kubectl. */
const SERVER_WITHOUT_KUBECONFIG = 'http://localhost:8080';
const NO_KUBECONFIG =
  'no kubeconfig: neither $KUBECONFIG nor ~/.kube/config names a cluster; name a file with --kubeconfig';

/** Whether the cluster is reached through a proxy, set by the kubeconfig or the environment. */
function useProxy(config: KubeConfig, cluster: Cluster): boolean {
  const proxyUrl = cluster.proxyUrl ?? proxyOf(cluster.server, process.env);
  if (proxyUrl === undefined) return false;
  if (!URL.canParse(proxyUrl))
    throw new Error(`cannot use proxy "${proxyUrl}": expected a URL such as http://proxy:3128`);
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

/** Exec plugins renew their credentials. Calling them each time is cheap: they cache until expiry. */
async function bearerToken(config: KubeConfig): Promise<string> {
  const { headers } = await authenticate(config);
  const header = headers !== undefined && 'Authorization' in headers ? headers['Authorization'] : undefined;
  return typeof header === 'string' ? header.replace(/^Bearer /, '') : '';
}

/** The user to impersonate according to the kubeconfig; the library does not support `as-groups`. */
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

/** The library prefers data inside the kubeconfig. */
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

/** The proxy for a server according to the environment, if any (Go's `httpproxy.FromEnvironment`). */
export function proxyOf(server: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const proxy = variable(env, 'HTTPS_PROXY');
  const target = URL.canParse(server) ? new URL(server) : undefined;
  if (proxy === '' || target?.protocol !== 'https:' || isLoopback(target.hostname)) return undefined;
  const exceptions = variable(env, 'NO_PROXY')
    .split(',')
    .map((each) => each.trim().toLowerCase());
  if (exceptions.some((exception) => isExcepted(target, exception))) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function variable(env: Readonly<Record<string, string | undefined>>, name: string): string {
  return env[name] ?? env[name.toLowerCase()] ?? '';
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}

/** `*`, a host with or without its port, a domain with or without its leading dot, or a range of addresses. */
function isExcepted({ hostname, port }: URL, exception: string): boolean {
  if (exception === '' || exception === '*') return exception === '*';
  if (exception.includes('/')) return isInRange(hostname.replace(/^\[|\]$/g, ''), exception);
  const [host = '', ofPort] = exception.split(/:(?=\d+$)/);
  return (ofPort ?? portOf(port)) === portOf(port) && isWithin(hostname, host);
}

/** A URL omits the default port of its scheme. */
function portOf(port: string): string {
  return port === '' ? '443' : port;
}

function isWithin(hostname: string, domain: string): boolean {
  return hostname === domain || hostname.endsWith(domain.startsWith('.') ? domain : `.${domain}`);
}

/** Families by the result of `isIP`, with the longest prefix of each. */
const FAMILIES: ReadonlyMap<number, readonly ['ipv4' | 'ipv6', number]> = new Map([
  [4, ['ipv4', 32]],
  [6, ['ipv6', 128]],
]);

function isInRange(address: string, range: string): boolean {
  const [network = '', prefix = ''] = range.split('/');
  const [family, longest] = FAMILIES.get(isIP(network)) ?? [];
  if (family === undefined || longest === undefined || isIP(address) !== isIP(network)) return false;
  if (!/^\d+$/.test(prefix) || Number(prefix) > longest) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(prefix), family);
  return list.check(address, family);
}
