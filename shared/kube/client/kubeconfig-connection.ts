import { existsSync, readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import type { RequestOptions } from 'node:https';
import { BlockList, isIP } from 'node:net';
import type { KubeConfig } from '@kubernetes/client-node';
import { withoutBrackets } from '#shared/runtime/host-port.ts';
import { libraryOf } from './client-library.ts';
import { type ClusterConnection, type Environment, inClusterConnection, SERVICE_ACCOUNT } from './connection.ts';
import type { Impersonation } from './impersonation.ts';
import { chooseContext, type KubeconfigChoice, type KubeconfigOverrides } from './kubeconfig-choice.ts';
import { credentialsOf, fromBase64 } from './kubeconfig-credentials.ts';
import { type KubeconfigUser, readKubeconfigs } from './kubeconfig-files.ts';

const NO_KUBECONFIG =
  'no kubeconfig: neither $KUBECONFIG nor ~/.kube/config names a cluster; name a file with --kubeconfig';

/**
 * The connection that kubectl would use: `path`, else `$KUBECONFIG`, else `~/.kube/config`, else the pod's own; `context`,
 * else the current one. As kubectl, it sends no credentials over plain http. Throws a one-sentence error if the files
 * cannot be used.
 */
export async function kubeconfigConnection(
  path?: string,
  context?: string,
  overrides: Omit<KubeconfigOverrides, 'context'> = {},
  env: Environment = process.env,
): Promise<ClusterConnection> {
  const config = readKubeconfigs(path, env);
  const isEmpty = config.clusters.size === 0 && config.contexts.size === 0 && overrides.server === undefined;
  if (isEmpty && path === undefined) {
    if (isInPod(env)) return inClusterConnection(env);
    throw new Error(NO_KUBECONFIG);
  }
  return connectionOf(chooseContext(config, { ...overrides, context }), env);
}

/** The same as the client library's object, for features that only the library has. Throws likewise. */
export async function loadKubeconfig(path?: string, context?: string): Promise<KubeConfig> {
  return libraryOf(await kubeconfigConnection(path, context));
}

function isInPod(env: Environment): boolean {
  return (env['KUBERNETES_SERVICE_HOST'] ?? '') !== '' && existsSync(`${SERVICE_ACCOUNT}/token`);
}

async function connectionOf(choice: KubeconfigChoice, env: Environment): Promise<ClusterConnection> {
  const { context, clusterName, server, namespace, user } = choice;
  const connection: ClusterConnection = {
    server,
    origin: { context, cluster: clusterName },
    ...authorityOf(choice),
    ...(server.startsWith('https:') ? await credentialsOf(choice, env) : { token: () => Promise.resolve('') }),
    ...impersonationOf(user),
    ...(namespace === undefined ? {} : { namespace }),
  };
  return { ...connection, ...(await proxied(connection, choice.cluster.proxyUrl ?? proxyOf(server, env))) };
}

function authorityOf({ cluster }: KubeconfigChoice): Partial<ClusterConnection> {
  const { caData, caFile, serverName, skipTlsVerify } = cluster;
  return {
    ...(caData === undefined ? {} : { ca: fromBase64(caData) }),
    ...(caFile === undefined ? {} : { ca: readFileSync(caFile, 'utf8'), caFile }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(skipTlsVerify ? { skipTlsVerify: true } : {}),
  };
}

function impersonationOf(user: KubeconfigUser): Pick<ClusterConnection, 'impersonate'> {
  if (user.as === undefined) return {};
  const impersonate: Impersonation = {
    user: user.as,
    groups: user.asGroups,
    ...(user.asUid !== undefined && { uid: user.asUid }),
    ...(user.asExtra.size > 0 && { extra: user.asExtra }),
  };
  return { impersonate };
}

/** The client library's agents speak to proxies. */
async function proxied(
  connection: ClusterConnection,
  proxyUrl: string | undefined,
): Promise<Partial<ClusterConnection>> {
  if (proxyUrl === undefined) return {};
  if (!URL.canParse(proxyUrl))
    throw new Error(`cannot use proxy "${proxyUrl}": expected a URL such as http://proxy:3128`);
  const library = await libraryOf(connection, proxyUrl);
  const options: RequestOptions = {};
  await library.applyToHTTPSOptions(options);
  return options.agent instanceof Agent ? { proxyAgent: options.agent } : {};
}

/** The proxy for a server according to the environment, if any (Go's `httpproxy.FromEnvironment`). */
export function proxyOf(server: string, env: Environment): string | undefined {
  const target = URL.canParse(server) ? new URL(server) : undefined;
  if (target === undefined || isLoopback(target.hostname)) return undefined;
  const proxy = variable(env, target.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  if (proxy === '') return undefined;
  const exceptions = variable(env, 'NO_PROXY')
    .split(',')
    .map((each) => each.trim().toLowerCase());
  if (exceptions.some((exception) => isExcepted(target, exception))) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function variable(env: Environment, name: string): string {
  return env[name] ?? env[name.toLowerCase()] ?? '';
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'));
}

/** `*`, a host or an address with or without its port, a domain with or without its leading dot, or a range of addresses. */
function isExcepted({ hostname, port, protocol }: URL, exception: string): boolean {
  if (exception === '' || exception === '*') return exception === '*';
  const host = withoutBrackets(hostname);
  if (exception.includes('/')) return isInRange(host, exception);
  // The last part of an IPv6 address without brackets is no port.
  const [of = '', ofPort] = isIP(exception) === 0 ? exception.split(/:(?=\d+$)/) : [exception];
  const own = port === '' ? DEFAULT_PORTS[protocol] : port;
  return (ofPort ?? own) === own && isWithin(host, withoutBrackets(of));
}

/** A URL omits the default port of its scheme. */
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' };

function isWithin(host: string, domain: string): boolean {
  const [, longest] = FAMILIES.get(isIP(domain)) ?? [];
  if (longest !== undefined) return isInRange(host, `${domain}/${longest}`);
  const parent = domain.replace(/^\*(?=\.)/, '');
  return host === parent || host.endsWith(parent.startsWith('.') ? parent : `.${parent}`);
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
