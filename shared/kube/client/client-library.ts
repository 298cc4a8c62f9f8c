import type { KubeConfig, User } from '@kubernetes/client-node';
import { type ClusterConnection, requestCredentials } from './connection.ts';

/** The client library's object for a connection, for features that only the library has. */
export async function libraryOf(connection: ClusterConnection, proxyUrl?: string): Promise<KubeConfig> {
  const { clientCertificate: cert, clientKey: key } = connection;
  const library = await libraryWith(
    connection.server,
    { name: 'user', ...(cert && key ? { certData: toBase64(cert), keyData: toBase64(key) } : {}) },
    { connection, proxyUrl },
  );
  library.addAuthenticator({
    isAuthProvider: () => true,
    applyAuthentication: async (_, options) => {
      options.headers = Object.assign(options.headers ?? {}, await requestCredentials(connection));
    },
  });
  return library;
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** The client library's object for one cluster and one user. It is loaded here alone: importing it costs 75 MiB. */
export async function libraryWith(
  server: string,
  user: User,
  {
    connection = { server },
    proxyUrl,
  }: { readonly connection?: ClusterConnection; readonly proxyUrl?: string | undefined } = {},
): Promise<KubeConfig> {
  const library = await import('@kubernetes/client-node');
  const config = new library.KubeConfig();
  const { ca, serverName, skipTlsVerify = false } = connection;
  const cluster = {
    name: 'cluster',
    server,
    // The library refuses http to a server that it is to verify.
    skipTLSVerify: skipTlsVerify || server.startsWith('http:'),
    ...(ca === undefined ? {} : { caData: toBase64(ca) }),
    ...(serverName === undefined ? {} : { tlsServerName: serverName }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
  };
  const contexts = [{ name: 'context', cluster: 'cluster', user: user.name }];
  config.loadFromOptions({ clusters: [cluster], users: [user], contexts, currentContext: 'context' });
  return config;
}
