import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '#shared/runtime/log.ts';
import { answerHealth, type HealthSources } from './health.ts';
import { failureStatus } from './status.ts';

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
