import type { ServerResponse } from 'node:http';
import type { Log } from '#shared/runtime/log.ts';
import { internalError } from '#sandbox/api-server/errors/errors.ts';
import { UnknownPathError, StatusError } from '#sandbox/api-server/errors/status-error.ts';

const JSON_TYPE = 'application/json';

/** Sends a complete response; `warnings` become `Warning` headers. */
export function sendBytes(
  response: ServerResponse,
  code: number,
  body: Buffer | string,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): void {
  response.writeHead(code, {
    'content-type': JSON_TYPE,
    'cache-control': 'no-cache, private',
    'content-length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}

/** Sends a JSON value. */
export function sendJson(
  response: ServerResponse,
  code: number,
  value: unknown,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): void {
  sendBytes(response, code, JSON.stringify(value), headers);
}

const MAX_WARNING_LENGTH = 4_096;

/** `299 - "text"`, one header a warning. */
export function warningHeaders(warnings: readonly string[]): Readonly<Record<string, readonly string[]>> {
  if (warnings.length === 0) return {};
  return { warning: warnings.map((text) => `299 - ${JSON.stringify(printable(text).slice(0, MAX_WARNING_LENGTH))}`) };
}

/** Header values hold no control characters and no text beyond Latin-1. */
function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?');
}

/** Turns any error of a request into a Status; an unexpected error is logged and answered without details. */
export function sendError(
  response: ServerResponse,
  error: unknown,
  { log, warnings }: { readonly log: Log; readonly warnings: readonly string[] },
): void {
  if (error instanceof UnknownPathError) {
    sendNotFound(response);
    return;
  }
  if (!(error instanceof StatusError)) log.error({ err: error }, 'Request failed');
  const { status } = error instanceof StatusError ? error : internalError('the server could not complete the request');
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const retryAfter = status.details?.retryAfterSeconds ?? 0;
  sendJson(response, status.code, status, {
    ...warningHeaders(warnings),
    ...(retryAfter > 0 ? { 'retry-after': String(retryAfter) } : {}),
  });
}

function sendNotFound(response: ServerResponse): void {
  sendBytes(response, 404, '404 page not found\n', { 'content-type': 'text/plain; charset=utf-8' });
}
