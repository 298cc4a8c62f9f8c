import type { ServerResponse } from 'node:http';
import { endIfUnread } from '#shared/http/linger.ts';
import { failureStatus } from '#shared/http/status.ts';
import type { Failure } from '#webhook/messages.ts';

/** An encoded AdmissionReview, or an HTTP failure if there is no review to answer. */
export type Answer = Failure | { readonly code: 200; readonly body: string };

/** Writes an answer, unless the client has disconnected. */
export function sendAnswer(response: ServerResponse, answer: Answer): void {
  if (response.destroyed) return;
  const body = 'body' in answer ? answer.body : JSON.stringify(failureStatus(answer.code, answer.message));
  endIfUnread(response);
  response.writeHead(answer.code, ['Content-Type', 'application/json', 'Content-Length', Buffer.byteLength(body)]);
  response.end(body);
}
