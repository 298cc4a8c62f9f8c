import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { failureStatus } from '#shared/http/status.ts';

/** What the kubelet's surface shows. */
export interface KubeletSources {
  readonly token: string;
  readonly summary: () => Promise<unknown>;
  /** Text of a container's log, or why there is none. */
  readonly logs: (request: LogRequest) => { readonly text: string } | { readonly missing: string };
}

export interface LogRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines?: number;
}

interface Answer {
  readonly status: number;
  readonly type: 'application/json' | 'text/plain';
  readonly body: string;
}

/** The read-only part of a kubelet's HTTPS surface: `/stats/summary`, `/containerLogs/…`, `/healthz`; by bearer token. */
export function kubeletListener(sources: KubeletSources): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    answer(sources, request).then(
      (given) => send(response, given),
      () => send(response, problem(500, 'The kubelet could not answer')),
    );
  };
}

async function answer(sources: KubeletSources, request: IncomingMessage): Promise<Answer> {
  const url = new URL(request.url ?? '/', 'https://kubelet');
  if (url.pathname === '/healthz') return text('ok');
  if (!isAuthorized(request, sources.token)) return problem(401, 'Unauthorized');
  if (request.method !== 'GET') return problem(405, `Method ${request.method ?? ''} is not allowed: expected GET`);
  return url.pathname === '/stats/summary' ? json(200, await sources.summary()) : logAnswer(sources, url);
}

function logAnswer(sources: KubeletSources, url: URL): Answer {
  const [, namespace, pod, container] = /^\/containerLogs\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(url.pathname) ?? [];
  if (namespace === undefined || pod === undefined || container === undefined) {
    return problem(404, `Nothing at "${url.pathname}"`);
  }
  const found = sources.logs({ namespace, pod, container, ...logOptions(url.searchParams) });
  return 'text' in found ? text(found.text) : problem(404, found.missing);
}

function logOptions(query: URLSearchParams): Pick<LogRequest, 'previous' | 'timestamps' | 'tailLines'> {
  const tail = query.get('tailLines');
  return {
    previous: query.get('previous') === 'true',
    timestamps: query.get('timestamps') === 'true',
    ...(tail !== null && /^\d{1,9}$/.test(tail) && { tailLines: Number(tail) }),
  };
}

function isAuthorized(request: IncomingMessage, token: string): boolean {
  const given = Buffer.from(request.headers.authorization ?? '');
  const expected = Buffer.from(`Bearer ${token}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function text(body: string): Answer {
  return { status: 200, type: 'text/plain', body };
}

function json(status: number, body: unknown): Answer {
  return { status, type: 'application/json', body: JSON.stringify(body) };
}

function problem(status: number, message: string): Answer {
  return json(status, failureStatus(status, message));
}

function send(response: ServerResponse, { status, type, body }: Answer): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
}
