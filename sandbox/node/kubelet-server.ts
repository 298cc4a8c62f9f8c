import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { failureStatus } from '#shared/http/status.ts';

/** The data of the kubelet's API. */
export interface KubeletSources {
  readonly token: string;
  readonly summary: () => Promise<unknown>;
}

interface KubeletResponse {
  readonly status: number;
  readonly type: 'application/json' | 'text/plain';
  readonly body: string;
}

/** The read-only part of a kubelet's HTTPS API: `/stats/summary` with a bearer token, and `/healthz`. */
export function kubeletListener(sources: KubeletSources): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    answer(sources, request).then(
      (given) => send(response, given),
      () => send(response, problem(500, 'The kubelet could not answer')),
    );
  };
}

async function answer(sources: KubeletSources, request: IncomingMessage): Promise<KubeletResponse> {
  const url = new URL(request.url ?? '/', 'https://kubelet');
  if (url.pathname === '/healthz') return text('ok');
  if (!isAuthorized(request, sources.token)) return problem(401, 'Unauthorized');
  if (request.method !== 'GET') return problem(405, `Method ${request.method ?? ''} is not allowed: expected GET`);
  if (url.pathname !== '/stats/summary') return problem(404, `Nothing at "${url.pathname}"`);
  return json(200, await sources.summary());
}

function isAuthorized(request: IncomingMessage, token: string): boolean {
  const given = Buffer.from(request.headers.authorization ?? '');
  const expected = Buffer.from(`Bearer ${token}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function text(body: string): KubeletResponse {
  return { status: 200, type: 'text/plain', body };
}

function json(status: number, body: unknown): KubeletResponse {
  return { status, type: 'application/json', body: JSON.stringify(body) };
}

function problem(status: number, message: string): KubeletResponse {
  return json(status, failureStatus(status, message));
}

function send(response: ServerResponse, { status, type, body }: KubeletResponse): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
}
