import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Shutdown } from '#shared/runtime/shutdown.ts';
import { failureStatus } from './status.ts';
import { serve, type Server } from './serve.ts';

/** A named condition of readiness. */
export interface HealthCheck {
  readonly name: string;
  /** Describes what is missing; `undefined` if the condition holds. */
  readonly problem: () => string | undefined;
}

export interface HealthSources {
  /** Checks for `/readyz`. */
  readonly checks: readonly HealthCheck[];
  readonly metrics: Metrics;
  /** Returned by `/configz`, with secrets redacted. */
  readonly configuration: unknown;
}

export interface HealthAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

const TEXT = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json';

/** Serves `/livez`, `/readyz` (`?verbose` lists the checks), `/metrics` and `/configz`; 404 for any other path. */
export async function answerHealth(
  sources: HealthSources,
  path: string,
  query: URLSearchParams,
): Promise<HealthAnswer> {
  switch (path) {
    case '/livez':
      // A restart would only cure a process that does not respond at all.
      return answerChecks('livez', [], query.has('verbose'));
    case '/readyz':
      return answerChecks('readyz', sources.checks, query.has('verbose'));
    case '/metrics':
      return answerMetrics(sources);
    case '/configz':
      return { status: 200, contentType: JSON_TYPE, body: JSON.stringify(redactSecrets(sources.configuration)) };
    default:
      return { status: 404, contentType: JSON_TYPE, body: JSON.stringify(failureStatus(404, 'Path not found')) };
  }
}

/** Failing checks are also a metric: an unready replica gets no traffic, but monitoring still scrapes it. */
async function answerMetrics({ checks, metrics }: HealthSources): Promise<HealthAnswer> {
  const passed = metrics.gauge('plimsoll_check_passed', 'Whether a check of /readyz passes (1) or fails (0)', [
    'check',
  ]);
  for (const check of checks) passed.set(problemOf(check) === undefined ? 1 : 0, { check: check.name });
  return { status: 200, contentType: metrics.contentType, body: await metrics.text() };
}

/** The API server's own format: `ok`, or one line per check if requested or if a check fails. */
function answerChecks(name: string, checks: readonly HealthCheck[], verbose: boolean): HealthAnswer {
  const results = checks.map((check) => ({ name: check.name, problem: problemOf(check) }));
  const isWell = results.every(({ problem }) => problem === undefined);
  if (isWell && !verbose) return { status: 200, contentType: TEXT, body: 'ok' };
  const lines = results.map((result) =>
    result.problem === undefined ? `[+]${result.name} ok` : `[-]${result.name} failed: ${result.problem}`,
  );
  const body = [...lines, `${name} check ${isWell ? 'passed' : 'failed'}`, ''].join('\n');
  return { status: isWell ? 200 : 503, contentType: TEXT, body };
}

function problemOf(check: HealthCheck): string | undefined {
  try {
    return check.problem();
  } catch (error) {
    return errorText(error);
  }
}

const SECRET_KEY = /token|password|secret|authorization|private|key(pem)?$/i;
/** Names that look secret but are not: the path or the name of a secret. */
const PLAIN_KEY = /(file|path|name|mode|namespace)$/i;
const DEEPEST = 32;

/** A copy for people to read: values under keys that look secret are replaced at any depth. */
function redactSecrets(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEEPEST) return '[too deep]';
  if (Array.isArray(value)) return value.map((item) => redactSecrets(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      isSecret(key, child) ? '[redacted]' : redactSecrets(child, depth + 1),
    ]),
  );
}

function isSecret(key: string, value: unknown): boolean {
  return typeof value === 'string' && SECRET_KEY.test(key) && !PLAIN_KEY.test(key);
}

export interface HealthPortOptions extends Pick<HealthSources, 'checks' | 'metrics'> {
  /** Where to listen, and how long to stay reachable after the first stop signal; shown by `/configz`. */
  readonly configuration: { readonly healthHost: string; readonly healthPort: number; readonly drainSeconds: number };
  /** The main port of the process; it continues to answer while it drains. */
  readonly server: Server;
  readonly clock: Clock;
  readonly log: Log;
  readonly shutdown: Shutdown;
}

/**
 * Opens the port for health and metrics. After the first stop signal the process is unready, then drains, then closes.
 */
export async function openHealthPort(options: HealthPortOptions): Promise<Server> {
  const { checks, metrics, configuration, server, clock, log, shutdown } = options;
  const { healthHost: host, healthPort: port, drainSeconds } = configuration;
  const sources = { checks: [stoppingCheck(shutdown), ...checks], metrics, configuration };
  const handler = healthListener(sources, log);
  const health = await serve({ handler, host, port, maxConnections: HEALTH_CONNECTIONS });
  shutdown.onRelease('health port', () => health.close());
  // Registered after the ports and so released before them: unready, but responding until the Service stops routing
  // here.
  shutdown.onRelease('drain', () => {
    server.stopKeepingAlive();
    return clock.sleep(drainSeconds * 1_000);
  });
  return health;
}

/** Unready until everything has been read once. */
export function cachesCheck(missing: () => readonly string[]): HealthCheck {
  return {
    name: 'caches',
    problem: () => {
      const names = missing();
      return names.length === 0 ? undefined : `not yet read: ${names.join(', ')}`;
    },
  };
}

/** Unready after the first stop signal, so that the Service routes no more connections here. */
function stoppingCheck({ signal }: Shutdown): HealthCheck {
  return { name: 'running', problem: () => (signal.aborted ? 'shutting down' : undefined) };
}

/** Enough for probes and monitoring; a caller that sends requests without a pause on all of them delays little else. */
export const HEALTH_CONNECTIONS = 16;

/** Health and metrics on plain `node:http`: express would take 6 MiB in processes that otherwise do without it. */
export function healthListener(
  sources: HealthSources,
  log: Log,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    answerRequest(sources, request, response).catch((error: unknown) => {
      log.error({ err: error, path: request.url }, 'Health request failed');
      if (!response.headersSent) response.writeHead(500).end();
    });
  };
}

async function answerRequest(
  sources: HealthSources,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { 'Content-Type': 'application/json', Allow: 'GET, HEAD' });
    response.end(JSON.stringify(failureStatus(405, 'Method not allowed')));
    return;
  }
  const { pathname, searchParams } = parseTarget(request.url);
  const { status, contentType, body } = await answerHealth(sources, pathname, searchParams);
  response.writeHead(status, { 'Content-Type': contentType, 'X-Content-Type-Options': 'nosniff' });
  response.end(request.method === 'HEAD' ? undefined : body);
}

function parseTarget(target = '/'): { readonly pathname: string; readonly searchParams: URLSearchParams } {
  const mark = target.indexOf('?');
  const pathname = mark < 0 ? target : target.slice(0, mark);
  return { pathname, searchParams: new URLSearchParams(mark < 0 ? '' : target.slice(mark + 1)) };
}
