import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { endIfUnread } from '#shared/http/linger.ts';
import { collectBody, createBodyAllowance, type Body } from '#shared/http/read-body.ts';
import { failureStatus } from '#shared/http/status.ts';
import type { Log } from '#shared/runtime/log.ts';

/** What a verb answers: an object for JSON, or what it cannot read of the request. */
export type VerbAnswer = { readonly ok: true; readonly value: object } | { readonly ok: false; readonly error: string };

/** Answers one request of kube-scheduler, given its parsed body. When overloaded it answers without a decision. */
export type Verb = (raw: unknown, isOverloaded: boolean) => VerbAnswer;

export interface ExtenderListenerOptions {
  /** By path. */
  readonly verbs: ReadonlyMap<string, Verb>;
  /** Largest body of one request; all bodies together may be four times as large. */
  readonly bodyLimitBytes: number;
  /** Most open requests; further ones are answered without a decision. */
  readonly maxRequests: number;
  readonly log: Log;
}

interface Answer {
  readonly code: number;
  readonly value: object;
}

const BODIES_AT_ONCE = 4;
const UNREAD: Readonly<Record<Exclude<Body['kind'], 'body' | 'aborted'>, Answer>> = {
  tooLarge: failure(413, 'Request body is too large'),
  overloaded: failure(503, 'Too many large requests at once'),
};
const NO_JSON = failure(400, 'Request body is not valid JSON');
const NO_VERB = failure(404, 'No such verb');
const FAILED = failure(500, 'Internal error');

/** The listener of the extender port. It has no router: reading and answering cost more than the decision itself. */
export function extenderListener(options: ExtenderListenerOptions): RequestListener {
  const { verbs, bodyLimitBytes, maxRequests } = options;
  const limits = { maxBytes: bodyLimitBytes, allowance: createBodyAllowance(BODIES_AT_ONCE * bodyLimitBytes) };
  let requests = 0;
  return (request, response) => {
    const verb = verbOf(verbs, request);
    if (verb === undefined) {
      send(response, NO_VERB);
      return;
    }
    requests += 1;
    response.once('close', () => (requests -= 1));
    collectBody(request, limits, (body) => {
      if (body.kind === 'aborted') return;
      const answer = body.kind === 'body' ? ask(options, verb, body.bytes, requests > maxRequests) : UNREAD[body.kind];
      send(response, answer);
    });
  };
}

function verbOf(verbs: ExtenderListenerOptions['verbs'], { method, url = '' }: IncomingMessage): Verb | undefined {
  return method === 'POST' ? verbs.get(url.split('?', 1)[0] ?? '') : undefined;
}

function ask({ log }: ExtenderListenerOptions, verb: Verb, bytes: Buffer, isOverloaded: boolean): Answer {
  const json = parse(bytes);
  if (!json.ok) return NO_JSON;
  try {
    const answer = verb(json.value, isOverloaded);
    return answer.ok ? { code: 200, value: answer.value } : { code: 400, value: { error: answer.error } };
  } catch (error) {
    log.error({ err: error }, 'Extender request failed');
    return FAILED;
  }
}

function parse(bytes: Buffer): { readonly ok: true; readonly value: unknown } | { readonly ok: false } {
  try {
    return { ok: true, value: JSON.parse(bytes.toString('utf8')) as unknown };
  } catch {
    return { ok: false };
  }
}

function send(response: ServerResponse, { code, value }: Answer): void {
  const text = JSON.stringify(value);
  const length = Buffer.byteLength(text);
  endIfUnread(response);
  response.writeHead(code, { 'content-type': 'application/json', 'content-length': length });
  // ASCII text has the same bytes in latin1 and UTF-8, and is far cheaper to write as latin1.
  response.end(text, length === text.length ? 'latin1' : 'utf8');
}

function failure(code: number, message: string): Answer {
  return { code, value: failureStatus(code, message) };
}
