import type { IncomingMessage } from 'node:http';
import { FAILURES, type Failure } from '#webhook/messages.ts';

/** What is wrong with the method and headers of a review; `undefined` if they are valid. */
export function headProblem({ method, headers }: IncomingMessage): Failure | undefined {
  if (method !== 'POST') return FAILURES.wrongMethod();
  if (!isJson(headers['content-type'])) return FAILURES.wrongContentType();
  const encoding = headers['content-encoding'] ?? 'identity';
  return encoding === 'identity' ? undefined : FAILURES.encoded();
}

/** The API server sends the plain media type, which is compared first. */
function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}
