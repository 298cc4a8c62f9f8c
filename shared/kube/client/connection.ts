import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Agent } from 'node:https';

/** The address of the API server and our credentials. Certificates and keys are PEM text. */
export interface ClusterConnection {
  /** `https://host:port`; plain http is accepted for loopback only. */
  readonly server: string;
  readonly ca?: string;
  /** The file that the CA was read from, if any; clients follow it. */
  readonly caFile?: string;
  /** Called before every request, because mounted tokens rotate. */
  readonly token?: () => Promise<string>;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  /** Name to verify the server's certificate against, if it differs from the host. */
  readonly serverName?: string;
  /** The context and the cluster in the kubeconfig, if the connection is from one. */
  readonly origin?: { readonly context: string; readonly cluster: string };
  /** The namespace of this process. */
  readonly namespace?: string;
  /** The user to impersonate; needs permission to impersonate. */
  readonly impersonate?: Impersonation;
  /** Connects through the proxy of the kubeconfig or the environment. */
  readonly proxyAgent?: Agent;
  /** Set only by a kubeconfig with `insecure-skip-tls-verify`. */
  readonly skipTlsVerify?: boolean;
}

export interface Impersonation {
  readonly user: string;
  readonly groups: readonly string[];
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const ENVIRONMENT_NAMES = 'PLIMSOLL_SERVER, PLIMSOLL_TOKEN_FILE and PLIMSOLL_CA_FILE';

type Environment = Readonly<Record<string, string | undefined>>;

/** A connection from plain values: an address, a bearer token and the server's CA as PEM text. */
export function directConnection(direct: {
  readonly server: string;
  readonly token?: string;
  readonly ca?: string;
}): ClusterConnection {
  const { server, token, ca } = direct;
  return {
    server,
    ...(token === undefined ? {} : { token: () => Promise.resolve(token) }),
    ...(ca === undefined ? {} : { ca }),
  };
}

/**
 * The connection of a pod: mounted token (read again each minute, because it rotates), CA and namespace. Throws outside
 * a pod.
 */
export function inClusterConnection(env: Environment, directory = SERVICE_ACCOUNT): ClusterConnection {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443';
  if (host === undefined) throw new Error('not in a cluster: KUBERNETES_SERVICE_HOST is not set');
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ...authorityIn(`${directory}/ca.crt`),
    token: tokenFromFile(`${directory}/token`),
    namespace: readFileSync(`${directory}/namespace`, 'utf8').trim(),
  };
}

/** The connection that the sandbox passed to this child process; undefined if the environment has none. */
export function environmentConnection(env: Environment): ClusterConnection | undefined {
  const server = env['PLIMSOLL_SERVER'];
  const tokenFile = env['PLIMSOLL_TOKEN_FILE'];
  const caFile = env['PLIMSOLL_CA_FILE'];
  if (server === undefined && tokenFile === undefined && caFile === undefined) return undefined;
  if (server === undefined || tokenFile === undefined || caFile === undefined) {
    throw new Error(`cannot use the connection in the environment: set ${ENVIRONMENT_NAMES} together`);
  }
  return { server, ...authorityIn(caFile), token: tokenFromFile(tokenFile) };
}

function authorityIn(caFile: string): Pick<ClusterConnection, 'ca' | 'caFile'> {
  return { ca: readFileSync(caFile, 'utf8'), caFile };
}

const TOKEN_LIFE_MS = 60_000;

/** Reads a token file at most once a minute; the kubelet replaces it well before it expires. */
function tokenFromFile(path: string): () => Promise<string> {
  let token = '';
  let readAt = -Infinity;
  return async () => {
    if (performance.now() - readAt < TOKEN_LIFE_MS) return token;
    token = (await readFile(path, 'utf8')).trim();
    readAt = performance.now();
    return token;
  };
}
