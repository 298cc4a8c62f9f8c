import type { ErrorRequestHandler } from 'express';
import type { Log } from '#shared/runtime/log.ts';
import { endIfUnread } from './connections.ts';
import { failureStatus, type StatusBody } from './status.ts';

/** A failure whose message is meant for the caller; the messages of all other errors are hidden. */
export class RequestProblem extends Error {
  override readonly name = 'RequestProblem';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The response for an error: 4xx errors keep their message, all others become a plain 500. */
export function statusOfProblem(thrown: unknown): StatusBody {
  if (thrown instanceof RequestProblem) return failureStatus(thrown.code, thrown.message);
  const { status, type } = httpError(thrown);
  if (type === 'entity.too.large') return failureStatus(413, 'Request body is too large');
  if (type === 'entity.parse.failed') return failureStatus(400, 'Request body is not valid JSON');
  if (status !== undefined && status >= 400 && status < 500) return failureStatus(status, messageOf(thrown));
  return failureStatus(500, 'Internal error');
}

/**
 * The only error handler of an express server: responds with a JSON Status, never with a stack; logs unexpected errors.
 */
export function problemHandler(log: Log): ErrorRequestHandler {
  return (thrown: unknown, request, response, next) => {
    const status = statusOfProblem(thrown);
    if (status.code >= 500) log.error({ err: thrown, method: request.method, path: request.path }, 'Request failed');
    if (response.headersSent) {
      next(thrown);
      return;
    }
    endIfUnread(response);
    response.status(status.code).json(status);
  };
}

/** The fields of express' own errors (http-errors). */
function httpError(thrown: unknown): { readonly status?: number; readonly type?: string } {
  if (!(thrown instanceof Error)) return {};
  const { status, type } = thrown as Error & { status?: unknown; type?: unknown };
  return { ...(typeof status === 'number' && { status }), ...(typeof type === 'string' && { type }) };
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : 'Bad request';
}
