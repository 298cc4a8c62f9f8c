import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { jsonSize, type JsonSize } from '#shared/http/json-size.ts';
import type { Body } from '#shared/http/read-body.ts';
import type { BodyTurn } from './body-turns.ts';

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

const PIECE_BYTES = 256 * 1024;

const OVERLOADED: Failure = { code: 429, message: 'Too many request bodies at once' };

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
export function parseBody(body: Body, turn: BodyTurn): Failure | { readonly value: unknown } {
  switch (body.kind) {
    case 'tooLarge':
      return failureOfTooLarge(body);
    case 'overloaded':
      return OVERLOADED;
    case 'aborted':
      return { code: 400, message: 'Request body is incomplete' };
    case 'body':
      return parseJson(body.bytes, turn);
  }
}

/** What is nested too deep is that already at its beginning, and the better answer. */
function failureOfTooLarge({ beginning, limitBytes }: Extract<Body, { kind: 'tooLarge' }>): Failure {
  const size = jsonSize(beginning, JSON_LIMITS);
  if (size.kind === 'beyond') return FAILURES[size.limit];
  return { code: 413, message: `Request body is too large: at most ${limitBytes} bytes` };
}

function parseJson(bytes: Buffer, turn: BodyTurn): Failure | { readonly value: unknown } {
  if (!isUtf8(bytes)) return { code: 400, message: 'Request body is not valid UTF-8' };
  const size = jsonSize(bytes, JSON_LIMITS);
  if (size.kind === 'beyond') return FAILURES[size.limit];
  if (!turn.take(parsedBytes(bytes.length, size))) return OVERLOADED;
  try {
    return { value: JSON.parse(textOf(bytes)) as unknown };
  } catch {
    return { code: 400, message: 'Request body is not valid JSON' };
  }
}

/** As much of a body as there is. */
export function beginningOf(body: Body): Buffer {
  if (body.kind === 'body') return body.bytes;
  return body.kind === 'tooLarge' ? body.beginning : Buffer.alloc(0);
}

/** In pieces: a text of a MiB or more is kept outside V8's heap, where the limit of the heap collects no garbage. */
function textOf(bytes: Buffer): string {
  if (bytes.length <= PIECE_BYTES) return bytes.toString('utf8');
  const decoder = new StringDecoder('utf8');
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) text += decoder.write(bytes.subarray(at, at + PIECE_BYTES));
  return text + decoder.end();
}

/** What the values of a body may take in memory at most: texts with two bytes a character, and what we read out of them. */
function parsedBytes(length: number, { containers, commas }: Extract<JsonSize, { kind: 'within' }>): number {
  return length * 4 + containers * 160 + commas * 24;
}
