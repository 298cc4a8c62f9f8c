import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { endIfUnread } from '#shared/http/connections.ts';
import { collectBody, createBodyAllowance, type Body, type BodyAllowance } from '#shared/http/read-body.ts';
import { failureStatus } from '#shared/http/status.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { HistogramSeries, Metrics } from '#shared/runtime/metrics.ts';
import { type Exhausted, processorMs, type WorkLimits, WorkTurns } from '#shared/runtime/turns/work-turns.ts';

/** The answer of a verb: JSON text, or an error that says which field cannot be read. */
type VerbAnswer = { readonly ok: true; readonly json: string } | { readonly ok: false; readonly error: string };

/** One request of kube-scheduler. */
export interface ExtenderRequest {
  readonly body: Buffer;
  /** More requests are open than the extender decides at once. */
  readonly isOverloaded: boolean;
  /** Which limit the request has exhausted; `undefined` while it may still be decided. */
  readonly exhausted: () => Exhausted | undefined;
}

/** Answers one request in steps. */
export type Verb = (asked: ExtenderRequest) => Steps<VerbAnswer>;

/** The answer if the body cannot be decoded. */
export function unreadable({ field, message }: Extract<Decoded<unknown>, { ok: false }>): VerbAnswer {
  return { ok: false, error: field === '' ? message : `cannot read ${field}: ${message}` };
}

interface ExtenderListenerOptions {
  /** By path. */
  readonly verbs: ReadonlyMap<string, Verb>;
  /** Largest body of one request; all bodies together may be four times as large. */
  readonly bodyLimitBytes: number;
  /** Maximum number of open requests; further ones are answered without a decision. */
  readonly maxRequests: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Processor time used so far, in milliseconds; by default that of this process. */
  readonly processorMs?: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
}

interface JsonResponse {
  readonly code: number;
  readonly json: string;
}

const BODIES_AT_ONCE = 4;
const UNREAD: Readonly<Record<Exclude<Body['kind'], 'body' | 'aborted'>, JsonResponse>> = {
  tooLarge: failure(413, 'Request body is too large'),
  overloaded: failure(503, 'Too many large requests at once'),
};
/**
 * After an extender error kube-scheduler continues as if there were no extender, and would preempt protected pods
 * (`pkg/scheduler/framework/preemption/preemption.go` callExtenders). A request that cannot be decoded is therefore
 * answered with no nodes.
 */
const NO_PREEMPTION: JsonResponse = { code: 200, json: '{"NodeNameToMetaVictims":{}}' };
const NO_VERB = failure(404, 'No such verb');
const FAILED = failure(500, 'Internal error');

/** The limits of one request. kube-scheduler waits for two seconds and then continues as if there were no extender. */
const LIMITS: WorkLimits = { turnMs: 5, workMs: 50, waitMs: 500 };

/** A request whose verb is known. */
interface OpenRequest {
  readonly verb: Verb;
  readonly response: ServerResponse;
  readonly isOverloaded: () => boolean;
  readonly duration: HistogramSeries | undefined;
}

/**
 * The listener of the extender port. It has no router: the decision itself costs less than reading and answering a
 * request.
 */
export function extenderListener(options: ExtenderListenerOptions): RequestListener {
  const { verbs, bodyLimitBytes, maxRequests, clock, log } = options;
  const limits = { maxBytes: bodyLimitBytes, allowance: createBodyAllowance(BODIES_AT_ONCE * bodyLimitBytes) };
  const workClock = { processorMs, ...options, monotonic: () => clock.monotonic() };
  const turns = new WorkTurns(LIMITS, workClock);
  const durations = durationsOf(options);
  let requests = 0;
  const isOverloaded = (): boolean => requests > maxRequests;
  return (request, response) => {
    const path = pathOf(request);
    const verb = verbs.get(path);
    if (verb === undefined) {
      send(response, NO_VERB);
      return;
    }
    requests += 1;
    response.once('close', () => (requests -= 1));
    const isPreemption = path === '/preempt';
    const open = { verb, response, isOverloaded, duration: durations.get(path) };
    collectBody(request, limits, (body) => {
      if (body.kind === 'body') answerInTurns(options, { turns, allowance: limits.allowance }, open, body.bytes);
      else if (body.kind !== 'aborted') send(response, isPreemption ? notPossible(body.kind, log) : UNREAD[body.kind]);
    });
  };
}

function notPossible(kind: keyof typeof UNREAD, log: Log): JsonResponse {
  log.warn({ reason: kind }, 'Preemption request rejected without decoding');
  return NO_PREEMPTION;
}

/** A body that is queued counts as held until its request is answered. */
function answerInTurns(
  options: ExtenderListenerOptions,
  { turns, allowance }: { readonly turns: WorkTurns; readonly allowance: BodyAllowance },
  open: OpenRequest,
  bytes: Buffer,
): void {
  const { clock } = options;
  const size = bytes.length;
  allowance.take(size);
  const { response, duration } = open;
  const startedAt = clock.monotonic();
  const isOverloaded = open.isOverloaded();
  turns.run(
    (exhausted) => answer(open, bytes, { isOverloaded, exhausted }),
    (result) => {
      allowance.giveBack(size);
      send(response, result.ok ? result.value : failed(options, result.error));
      duration?.observe((clock.monotonic() - startedAt) / 1_000);
    },
  );
}

/** The series exist from the start, so that a rate also shows the first request. */
function durationsOf({ verbs, metrics }: ExtenderListenerOptions): ReadonlyMap<string, HistogramSeries> {
  const seconds = metrics.histogram(
    'plimsoll_extender_duration_seconds',
    'Time to answer a request of kube-scheduler, from its last byte, including the wait for other requests',
    ['verb'],
  );
  return new Map(Array.from(verbs.keys(), (path) => [path, seconds.series({ verb: path.slice(1) })]));
}

/** Empty for a request that is not a POST. */
function pathOf({ method, url = '' }: IncomingMessage): string {
  return method === 'POST' ? (url.split('?', 1)[0] ?? '') : '';
}

function* answer({ verb }: OpenRequest, body: Buffer, asked: Omit<ExtenderRequest, 'body'>): Steps<JsonResponse> {
  const answered = yield* verb({ ...asked, body });
  if (answered.ok) return { code: 200, json: answered.json };
  return { code: 400, json: JSON.stringify({ error: answered.error }) };
}

function failed({ log }: ExtenderListenerOptions, error: unknown): JsonResponse {
  log.error({ err: error }, 'Extender request failed');
  return FAILED;
}

function send(response: ServerResponse, { code, json }: JsonResponse): void {
  const length = Buffer.byteLength(json);
  endIfUnread(response);
  response.writeHead(code, { 'content-type': 'application/json', 'content-length': length });
  // ASCII text has the same bytes in latin1 and UTF-8, and is far cheaper to write as latin1.
  response.end(json, length === json.length ? 'latin1' : 'utf8');
}

function failure(code: number, message: string): JsonResponse {
  return { code, json: JSON.stringify(failureStatus(code, message)) };
}

/** Why a request is answered without a decision, or by protection alone. */
export type Undecided = 'Unsynced' | 'Overloaded' | 'Stale' | 'TooMuchWork';

/** The result of a request. */
type VerbOutcome<T> = { readonly decided: T } | { readonly undecided: Undecided };

/**
 * Decides a request in steps, unless that is impossible or exceeds the limits of work or time. Counts undecided
 * requests.
 */
export type DecideOr = <T>(verb: VerbName, asked: ReadRequest, decision: Steps<T>) => Steps<VerbOutcome<T>>;

/** A request whose body was read. */
interface ReadRequest extends ExtenderRequest {
  /** Reading the whole pod takes too much work, and nothing can be decided without it. */
  readonly isUnreadPod?: boolean;
}

/** What the extender knows about its copy of the cluster. */
export interface ViewState {
  /** Kinds that have not been read yet; nothing is decided before all of them are. */
  readonly missing: () => readonly string[];
  /** Whether the API server has been silent for too long about pods or nodes. */
  readonly isStale: () => boolean;
}

/** The verbs that kube-scheduler can call. */
type VerbName = 'preempt' | 'filter' | 'prioritize';

const REASONS: Readonly<Record<VerbName, readonly Undecided[]>> = {
  preempt: ['Unsynced', 'Overloaded', 'Stale', 'TooMuchWork'],
  filter: ['Unsynced', 'Overloaded', 'TooMuchWork'],
  prioritize: ['Unsynced', 'Overloaded', 'TooMuchWork'],
};

const BY_EXHAUSTED: Readonly<Record<Exhausted, Undecided>> = { work: 'TooMuchWork', wait: 'Overloaded' };

/** Decides requests, and counts undecided ones by verb and reason. */
export function decideOrCount(view: ViewState, metrics: Metrics): DecideOr {
  const undecided = metrics.counter(
    'plimsoll_extender_undecided_total',
    'Requests of kube-scheduler that were answered without a decision, by reason',
    ['verb', 'reason'],
  );
  for (const verb of Object.keys(REASONS) as VerbName[])
    for (const reason of REASONS[verb]) undecided.add({ verb, reason }, 0);
  return function* (verb, asked, decision) {
    const reason = reasonFor(verb, asked, view);
    const outcome = reason === undefined ? yield* untilExhausted(asked, decision) : { undecided: reason };
    if ('undecided' in outcome) undecided.add({ verb, reason: outcome.undecided });
    return outcome;
  };
}

/** Nodes are judged even if the view of pods is stale: NodePressures carry their own times. */
function reasonFor(verb: VerbName, asked: ReadRequest, { missing, isStale }: ViewState): Undecided | undefined {
  if (missing().length > 0) return 'Unsynced';
  if (asked.isOverloaded) return 'Overloaded';
  if (asked.isUnreadPod === true) return 'TooMuchWork';
  return verb === 'preempt' && isStale() ? 'Stale' : undefined;
}

function* untilExhausted<T>({ exhausted }: ExtenderRequest, decision: Steps<T>): Steps<VerbOutcome<T>> {
  for (;;) {
    const step = decision.next();
    if (step.done === true) return { decided: step.value };
    yield;
    const why = exhausted();
    if (why !== undefined) return { undecided: BY_EXHAUSTED[why] };
  }
}
