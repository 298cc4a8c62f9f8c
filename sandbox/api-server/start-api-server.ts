import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { stringify } from 'yaml';
import { createAuthority, issueServerCertificate, type CertificatePair } from '#shared/http/certificates.ts';
import { serve } from '#shared/http/serve.ts';
import { apiApp } from './http/app.ts';
import { authenticator } from './http/authenticate.ts';
import { createServerState, type ServerParts, type StateOptions } from './create-server-state.ts';
import type { User } from './operations/api-request.ts';

export interface ApiServerOptions extends StateOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Tokens and their users, in addition to the generated one of the administrator. */
  readonly users?: ReadonlyMap<string, User>;
  /** Signs the serving certificate; generated if it is not given. */
  readonly authority?: CertificatePair;
}

/** A running API server. */
export interface ApiServer {
  readonly url: string;
  readonly port: number;
  readonly token: string;
  readonly caPem: string;
  readonly kubeconfig: () => string;
  /** Its state, for callers in the same process. */
  readonly state: ServerParts['server'];
  /** Drops the history up to now, so that every earlier watch gets 410. */
  readonly compact: () => void;
  readonly close: () => Promise<void>;
}

const ADMINISTRATOR: User = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };
const CERTIFICATE_DAYS = 30;
/** Watches end with their connections, so there is little to wait for. */
const DRAIN_MS = 500;
/** Each watch holds one. */
const MAX_CONNECTIONS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;

/** Starts an empty cluster's API server over TLS. Rejects with a message if the port is not available. */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { host, port, clock, log } = options;
  const token = randomBytes(24).toString('base64url');
  const now = clock.now();
  const authority =
    options.authority ?? createAuthority({ commonName: 'plimsoll-sandbox', days: CERTIFICATE_DAYS, now });
  const tls = issueServerCertificate(authority, {
    dnsNames: ['localhost', 'kubernetes.default.svc'],
    ipAddresses: [...new Set(['127.0.0.1', host])],
    days: CERTIFICATE_DAYS,
    now,
  });
  const parts = createServerState({ ...options, clock, log });
  const users = new Map([...(options.users ?? []), [token, ADMINISTRATOR]]);
  const app = apiApp({
    server: parts.server,
    authenticate: authenticator(users),
    userOfToken: (text) => users.get(text),
  });
  const listener = await serve({
    handler: app,
    host,
    port,
    tls,
    drainMs: DRAIN_MS,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    maxConnections: MAX_CONNECTIONS,
  });
  return {
    url: listener.url,
    port: listener.port,
    token,
    caPem: authority.certPem,
    kubeconfig: () => kubeconfigText({ server: listener.url, caPem: authority.certPem, token }),
    state: parts.server,
    compact: () => parts.server.store.compact(),
    close: async () => {
      parts.stop();
      await listener.close();
    },
  };
}

const NAME = 'plimsoll-sandbox';

/** A kubeconfig with one cluster, one user and one context. */
function kubeconfigText({
  server,
  caPem,
  token,
}: {
  readonly server: string;
  readonly caPem: string;
  readonly token: string;
}): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: NAME, cluster: { server, 'certificate-authority-data': Buffer.from(caPem).toString('base64') } },
    ],
    users: [{ name: NAME, user: { token } }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME } }],
    'current-context': NAME,
  });
}
