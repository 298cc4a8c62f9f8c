import type { IncomingMessage } from 'node:http';
import {
  type Clock,
  systemClock,
  DeadlineError,
  forwardAbort,
  NOT_ABORTED,
  withDeadline,
} from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { CounterMetric, Metrics } from '#shared/runtime/metrics.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { decodeStatus, isProtobuf } from '#shared/kube/protobuf/envelope.ts';
import { jsonIn } from '#shared/kube/decode/wire-object.ts';
import { readBytes } from '#shared/runtime/read-bytes.ts';
import {
  type ClusterConnection,
  type Environment,
  environmentConnection,
  inClusterConnection,
  createTransport,
  type KubeRequest,
  type Transport,
} from './connection.ts';
import { type Failure, failureOf, type Outcome } from './outcome.ts';

/** What a part that uses the API server gets from its process. */
export interface ClientContext {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** A number in [0, 1) for jitter. */
  readonly random: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** A client of one API server. Its functions never throw because of the server or the network. */
export interface KubeClient {
  request(request: KubeRequest): Promise<Outcome<unknown>>;
  /**
   * A response read piece by piece: long lists and watches. It ends with the response, with `signal` or with `close`.
   */
  stream(request: KubeRequest): Promise<Outcome<ByteStream>>;
  /** Ends idle connections. */
  close(): void;
}

export interface ByteStream extends AsyncIterable<Buffer> {
  /** Content-Type of the response; JSON if absent. */
  readonly mediaType?: string | undefined;
  close(): void;
}

interface ClientOptions {
  readonly userAgent: string;
  readonly timeoutMs?: number;
  readonly clock?: Clock;
  readonly metrics?: Metrics;
  /** Logs errors when the CA file of the API server is read again. */
  readonly log?: Pick<Log, 'error'>;
  /** Called when the API server has answered a request; a server error (5xx) does not count as an answer. */
  readonly onAnswer?: () => void;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const FIRST_SERVER_ERROR = 500;
const LARGEST_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * A client with kept-alive connections. Objects are raw JSON, except in streams that request another format. Throws if
 * the connection is unusable.
 */
export function createClient(connection: ClusterConnection, options: ClientOptions): KubeClient {
  const clock = options.clock ?? systemClock;
  const transport = createTransport(connection, options.userAgent, { clock, log: options.log });
  const context: CallContext = {
    transport,
    clock,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    onAnswer: options.onAnswer,
    requests: options.metrics?.counter(
      'plimsoll_kube_requests_total',
      'Requests to the API server by HTTP method and status code, "none" without an answer',
      ['method', 'code'],
    ),
  };
  return {
    request: (request) => counted(context, request, () => requestWhole(context, request)),
    stream: (request) => counted(context, request, () => openStream(context, request)),
    close: () => transport.close(),
  };
}

interface CallContext {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly requests: CounterMetric | undefined;
  readonly onAnswer: (() => void) | undefined;
}

async function counted<T>(
  { requests, onAnswer }: CallContext,
  request: KubeRequest,
  run: () => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const outcome = await run();
  const code = outcome.kind === 'ok' ? 200 : (outcome.status ?? 'none');
  requests?.add({ method: request.method ?? 'GET', code });
  if (code !== 'none' && code < FIRST_SERVER_ERROR) onAnswer?.();
  return outcome;
}

async function requestWhole(context: CallContext, request: KubeRequest): Promise<Outcome<unknown>> {
  return withinTime(context, request, async (signal) => {
    const response = await context.transport.send(request, signal);
    return readAnswer(response);
  });
}

/** The deadline covers the headers. After that, the stream lives until it ends or is closed. */
async function openStream(context: CallContext, request: KubeRequest): Promise<Outcome<ByteStream>> {
  const lifetime = new AbortController();
  const release = forwardAbort(request.signal ?? NOT_ABORTED, lifetime);
  const outcome = await withinTime<ByteStream>(context, request, async (deadline) => {
    forwardAbort(deadline, lifetime);
    const response = await context.transport.send(request, lifetime.signal);
    if (response.statusCode !== 200) return refusal(response);
    response.on('close', release);
    return { kind: 'ok', object: byteStream(response, () => lifetime.abort()), warnings: [] };
  });
  if (outcome.kind !== 'ok') release();
  return outcome;
}

function byteStream(response: IncomingMessage, close: () => void): ByteStream {
  // Node reports an abort as an error event even if nothing reads any more.
  response.on('error', () => undefined);
  const mediaType = response.headers['content-type'];
  return { mediaType, [Symbol.asyncIterator]: () => response[Symbol.asyncIterator]() as AsyncIterator<Buffer>, close };
}

async function withinTime<T>(
  { clock, timeoutMs }: CallContext,
  request: KubeRequest,
  task: (signal: AbortSignal) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const limitMs = request.timeoutMs ?? timeoutMs;
  let seen: AbortSignal | undefined;
  try {
    return await withDeadline((signal) => task((seen = signal)), limitMs, clock, request.signal ?? NOT_ABORTED);
  } catch (error) {
    return noAnswer(error, seen, limitMs);
  }
}

function noAnswer(error: unknown, signal: AbortSignal | undefined, limitMs: number): Failure {
  if (signal?.reason instanceof DeadlineError) {
    return { kind: 'timeout', message: `no answer within ${limitMs} ms` };
  }
  if (signal?.aborted === true) return { kind: 'unreachable', message: 'the request was cancelled' };
  return { kind: 'unreachable', message: `no answer from the API server: ${errorText(error)}` };
}

async function readAnswer(response: IncomingMessage): Promise<Outcome<unknown>> {
  const status = response.statusCode ?? 0;
  if (status < 200 || status > 299) return refusal(response);
  const object = jsonIn((await readBytes(response, LARGEST_ANSWER_BYTES)).toString('utf8'));
  if (object === undefined) return { kind: 'serverError', status, message: 'the answer is not JSON' };
  return { kind: 'ok', object, warnings: warningsOf(response) };
}

async function refusal(response: IncomingMessage): Promise<Failure> {
  const bytes = await readBytes(response, LARGEST_ANSWER_BYTES);
  const status = isProtobuf(response.headers['content-type'])
    ? decodeStatus(bytes)
    : jsonOrText(bytes.toString('utf8'));
  return failureOf(response.statusCode ?? 0, status, response.headers['retry-after']);
}

function jsonOrText(text: string): unknown {
  return jsonIn(text) ?? text;
}

/** `299 - "text"` (RFC 9110): code, agent, quoted text. */
function warningsOf(response: IncomingMessage): readonly string[] {
  const headers = response.headersDistinct['warning'] ?? [];
  return headers.map((header) => /^\d+ \S+ "(.*)"$/.exec(header)?.[1]?.replace(/\\(.)/g, '$1') ?? header);
}

/**
 * Finds the API server by a kubeconfig if one is named, else by the variables that the sandbox gives its child
 * processes, else by the pod's environment. Only the first loads the client library, which costs 75 MiB.
 */
export async function connect(kubeconfig: string | undefined, env: Environment): Promise<ClusterConnection> {
  if (kubeconfig !== undefined) {
    const { kubeconfigConnection } = await import('./kubeconfig-connection.ts');
    return kubeconfigConnection(kubeconfig);
  }
  return environmentConnection(env) ?? inClusterConnection(env);
}
