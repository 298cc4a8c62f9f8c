import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { jsonExcess } from '#shared/http/json-excess.ts';
import type { Body } from '#shared/http/read-body.ts';

/** A failure of the request itself: answered by status code, because there is no review to answer. */
export interface Failure {
  readonly code: number;
  readonly message: string;
}

/** What the API server stores is far below: a pod of 5,000 containers has some 20,000 values. */
const JSON_LIMITS = { depth: 200, values: 100_000 } as const;

const FAILURES: Readonly<Record<keyof typeof JSON_LIMITS, Failure>> = {
  depth: { code: 400, message: `Request body is nested deeper than ${JSON_LIMITS.depth}` },
  values: { code: 413, message: `Request body is too large: at most ${JSON_LIMITS.values} values` },
};

/** What is wrong with method and headers of a review; `undefined` when nothing is. */
export function headProblem({ method, headers }: IncomingMessage): Failure | undefined {
  if (method !== 'POST') return { code: 405, message: 'Method not allowed: expected POST' };
  if (!isJson(headers['content-type'])) {
    return { code: 415, message: 'Unsupported content type: expected application/json' };
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  return encoding === 'identity' ? undefined : { code: 415, message: 'Unsupported content encoding: expected none' };
}

/** What the API server sends is the plain name, compared first. */
function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

/** The JSON value of a body, or how the request is to be answered instead. */
export function parseBody(body: Body): Failure | { readonly value: unknown } {
  switch (body.kind) {
    case 'tooLarge':
      return { code: 413, message: `Request body is too large: at most ${body.limitBytes} bytes` };
    case 'overloaded':
      return { code: 429, message: 'Too many request bodies at once' };
    case 'aborted':
      return { code: 400, message: 'Request body is incomplete' };
    case 'body':
      return parseJson(body.bytes);
  }
}

function parseJson(bytes: Buffer): Failure | { readonly value: unknown } {
  if (!isUtf8(bytes)) return { code: 400, message: 'Request body is not valid UTF-8' };
  const excess = jsonExcess(bytes, JSON_LIMITS);
  if (excess !== undefined) return FAILURES[excess];
  try {
    return { value: JSON.parse(bytes.toString('utf8')) as unknown };
  } catch {
    return { code: 400, message: 'Request body is not valid JSON' };
  }
}
