import { Buffer } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createBodyAllowance, readBody } from '#shared/http/read-body.ts';
import { badRequest, bodyTooLarge, tooManyRequests } from '#sandbox/api-server/errors/errors.ts';

/** The real server's own limit of a request. */
const MOST_BYTES = 3 * 1024 * 1024;

const ALLOWANCE = createBodyAllowance(64 * 1024 * 1024);
const NOTHING = Buffer.alloc(0);

/** The body of a request. Throws 413 while it is still coming in, and 429 when too many bodies are held at once. */
export async function readBytes(request: IncomingMessage, response: ServerResponse): Promise<Buffer> {
  if (request.method === 'GET' || request.method === 'HEAD') return NOTHING;
  const body = await readBody(request, { maxBytes: MOST_BYTES, allowance: ALLOWANCE });
  switch (body.kind) {
    case 'body':
      return body.bytes;
    case 'tooLarge':
      response.setHeader('connection', 'close');
      throw bodyTooLarge(MOST_BYTES);
    case 'overloaded':
      throw tooManyRequests('too many requests are being read, please try again later', 1, []);
    case 'aborted':
      throw badRequest('the request body ended before it was complete');
  }
}
