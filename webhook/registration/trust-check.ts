import { isIP } from 'node:net';
import { checkServerIdentity, connect } from 'node:tls';
import type { HealthCheck } from '#shared/http/health.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import { MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS } from '#shared/kube/resource.ts';
import { WEBHOOK_CONFIGURATION } from '#shared/kube/api-names.ts';
import { withoutBrackets } from '#shared/runtime/host-port.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import type { ReadOwn } from '#webhook/cluster-state/read-own.ts';
import { ERRORS, LOG } from '#webhook/messages.ts';
import { reportRounds } from '#shared/runtime/fault-log.ts';

export interface TrustSources extends Pick<ClientContext, 'clock' | 'log'> {
  /** The address on which the webhook can reach itself. */
  readonly host: string;
  readonly port: number;
  /** Whether the configurations must exist; otherwise an administrator creates them. */
  readonly isRegistered: boolean;
  readonly read: ReadOwn;
}

/** Verifies that a client which uses the registered configurations trusts the served certificate. */
export interface TrustCheck {
  run(signal: AbortSignal): Promise<void>;
  verify(): Promise<void>;
  readonly check: HealthCheck;
}

const VERIFY_EVERY_MS = 10_000;
const DEADLINE_MS = 30_000;
const BACKOFF = { initialMs: 100, maxMs: 10_000, factor: 2, jitter: 0.5 };
/** Failures right after the start are expected: nothing is registered yet. */
const QUIET_FAILURES = 5;

/** Reads the configurations and makes a TLS handshake with this webhook as the API server would. */
export function createTrustCheck(sources: TrustSources): TrustCheck {
  const { clock, log } = sources;
  let problem: string | undefined = 'not verified yet';

  async function verify(): Promise<void> {
    const targets = await readTargets(sources);
    const found = await Promise.all(targets.map(handshakeProblem));
    const at = found.findIndex((each) => each !== undefined);
    problem = at < 0 ? undefined : ERRORS.untrusted(String(targets[at]?.serverName), String(found[at]));
    if (problem !== undefined) throw new Error(problem);
  }

  const rounds = reportRounds(log, LOG.trustNotVerified);
  return {
    run: (signal) =>
      repeat(
        {
          task: verify,
          periodMs: VERIFY_EVERY_MS,
          deadlineMs: DEADLINE_MS,
          backoff: BACKOFF,
          // A failed read says nothing about trust: the last result stays.
          onError: (error, failuresInARow) => {
            if (failuresInARow > QUIET_FAILURES) rounds.onError(error);
          },
          onDone: rounds.onDone,
          clock,
        },
        signal,
      ),
    verify,
    check: { name: 'trust', problem: () => problem },
  };
}

/** Each distinct combination of server name and bundle in the entries of both configurations. */
async function readTargets(sources: TrustSources): Promise<readonly HandshakeTarget[]> {
  const found = await Promise.all(
    [MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS].map((resource) => readEntries(sources, resource)),
  );
  const targets = found.flat().map((entry) => targetOf(sources, entry));
  return [...new Map(targets.map((target) => [JSON.stringify(target), target])).values()];
}

async function readEntries(
  { read, isRegistered }: TrustSources,
  resource: typeof MUTATING_WEBHOOKS,
): Promise<readonly unknown[]> {
  const found = await read({ resource, name: WEBHOOK_CONFIGURATION });
  if (found === undefined && isRegistered) throw new Error(ERRORS.notRegistered(resource));
  return itemsOf(found?.['webhooks']);
}

/** How the API server would connect to this entry, but at our own address. */
function targetOf({ host, port }: TrustSources, entry: unknown): HandshakeTarget {
  const clientConfig = fieldOf(entry, 'clientConfig');
  const caBundle = fieldOf(clientConfig, 'caBundle');
  return {
    host,
    port,
    serverName: serverNameOf(clientConfig),
    caBundlePem:
      typeof caBundle === 'string' && caBundle !== '' ? Buffer.from(caBundle, 'base64').toString() : undefined,
  };
}

function serverNameOf(clientConfig: unknown): string {
  const url = fieldOf(clientConfig, 'url');
  if (typeof url === 'string' && URL.canParse(url)) return withoutBrackets(new URL(url).hostname);
  const service = fieldOf(clientConfig, 'service');
  return `${String(fieldOf(service, 'name'))}.${String(fieldOf(service, 'namespace'))}.svc`;
}

export interface HandshakeTarget {
  readonly host: string;
  readonly port: number;
  /** The name or address that the client expects in the certificate. */
  readonly serverName: string;
  /** PEM of the CAs that the client trusts; `undefined` means the system's CAs. */
  readonly caBundlePem: string | undefined;
}

const TIMEOUT_MS = 5_000;

/**
 * Why a client with this bundle does not trust the served certificate; `undefined` if it does. Rejects when the
 * connection fails, which says nothing about trust.
 */
function handshakeProblem({ host, port, serverName, caBundlePem }: HandshakeTarget): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      // SNI does not carry addresses, but the certificate is still checked for the address.
      ...(isIP(serverName) === 0 && { servername: serverName }),
      checkServerIdentity: (_, certificate) => checkServerIdentity(serverName, certificate),
      ca: caBundlePem,
      ALPNProtocols: ['http/1.1'],
      // With TLS 1.3 the server sends its certificate before it asks for ours, which we may not have.
      minVersion: 'TLSv1.3',
      // The result is read below, because an error here could also be a network error.
      rejectUnauthorized: false,
      timeout: TIMEOUT_MS,
    });
    socket.on('secureConnect', () => {
      resolve(socket.authorized ? undefined : String(socket.authorizationError));
      socket.destroy();
    });
    socket.on('timeout', () => socket.destroy(new Error(ERRORS.noHandshake(TIMEOUT_MS))));
    socket.on('error', reject);
  });
}
