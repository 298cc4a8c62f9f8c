import type { IncomingMessage } from 'node:http';

/** A failure of the HTTP request: answered with a status code if there is no review to answer. */
export interface Failure {
  readonly code: 400 | 405 | 413 | 415 | 429 | 500;
  readonly message: string;
}

/** What is wrong with the method and headers of a review; `undefined` if they are valid. */
export function headProblem({ method, headers }: IncomingMessage): Failure | undefined {
  if (method !== 'POST') return { code: 405, message: 'Method not allowed: expected POST' };
  if (!isJson(headers['content-type'])) {
    return { code: 415, message: 'Unsupported content type: expected application/json' };
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  return encoding === 'identity' ? undefined : { code: 415, message: 'Unsupported content encoding: expected none' };
}

/** The API server sends the plain media type, which is compared first. */
function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}
