import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Shutdown } from '#shared/runtime/shutdown.ts';
import { type HealthCheck, type HealthSources, answerHealth } from './health.ts';
import { serve, type Server } from './serve.ts';
import { failureStatus } from './status.ts';

export interface HealthPortOptions extends Pick<HealthSources, 'checks' | 'metrics'> {
  /** Where to listen, and how long to stay reachable after the first signal to stop; shown by `/configz`. */
  readonly configuration: { readonly healthHost: string; readonly healthPort: number; readonly drainSeconds: number };
  /** What the process is for; it goes on answering while it drains. */
  readonly server: Server;
  readonly clock: Clock;
  readonly log: Log;
  readonly shutdown: Shutdown;
}

/** Opens the port of health and metrics. From the first signal to stop the process is unready, then drains, then closes. */
export async function openHealthPort(options: HealthPortOptions): Promise<Server> {
  const { checks, metrics, configuration, server, clock, log, shutdown } = options;
  const { healthHost: host, healthPort: port, drainSeconds } = configuration;
  const sources = { checks: [stoppingCheck(shutdown), ...checks], metrics, configuration };
  const handler = healthListener(sources, log);
  const health = await serve({ handler, host, port, maxConnections: HEALTH_CONNECTIONS });
  shutdown.onRelease('health port', () => health.close());
  // Registered after the ports and so released before them: unready, but answering until the Service stops routing here.
  shutdown.onRelease('drain', () => {
    server.stopKeepingAlive();
    return clock.sleep(drainSeconds * 1_000);
  });
  return health;
}

/** Unready until everything that is missing has been read once. */
export function cachesCheck(missing: () => readonly string[]): HealthCheck {
  return {
    name: 'caches',
    problem: () => {
      const names = missing();
      return names.length === 0 ? undefined : `not yet read: ${names.join(', ')}`;
    },
  };
}

/** Not ready from the first signal to stop, so that the Service routes no more connections here. */
function stoppingCheck({ signal }: Shutdown): HealthCheck {
  return { name: 'running', problem: () => (signal.aborted ? 'about to end' : undefined) };
}

/** Enough for probes and monitoring; a caller that asks on all of them without a pause delays little else. */
export const HEALTH_CONNECTIONS = 16;

/** Health and metrics on plain `node:http`: express would take 6 MiB of processes that do without it otherwise. */
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
