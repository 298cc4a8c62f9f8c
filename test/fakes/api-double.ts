import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServerState } from '#sandbox/api-server/create-server-state.ts';
import { apiApp } from '#sandbox/api-server/http/app.ts';
import type { User } from '#sandbox/api-server/operations/api-request.ts';
import { failureStatus } from '#shared/http/status.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { openWatches } from './open-watches.ts';
import { storedObjects, type StoredObjects } from './stored-objects.ts';
import { sendJson } from './wire-server.ts';
import { letTimePass } from '#test/build/waiting.ts';

/** A request as the double saw it. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly isWatch: boolean;
  readonly isDryRun: boolean;
}

/** A write, with its body as JSON; `atMs` is when it arrived, on the clock of `performance.now()`. */
export interface Write {
  readonly method: string;
  readonly path: string;
  readonly isDryRun: boolean;
  readonly body: Readonly<Record<string, unknown>>;
  readonly atMs: number;
}

/** What goes wrong with one request, instead of its answer or before it. */
export type Fault =
  | { readonly kind: 'answer'; readonly status: number; readonly body: object }
  | { readonly kind: 'silence' }
  /** The response is written by the test. */
  | { readonly kind: 'stream'; readonly write: (response: ServerResponse) => void }
  | { readonly kind: 'delay'; readonly ms: number; readonly next?: Fault | undefined };

/** The API server of the sandbox over plain HTTP, where every caller is an administrator, with switches for faults. */
export interface ApiDouble extends StoredObjects {
  readonly url: string;
  /** All requests so far that change something, refused ones included; dry runs too. */
  readonly writes: Write[];
  /** When set, every request is answered with this status. */
  failing: number | undefined;
  /** Requests for these paths are never answered. */
  silent: RegExp | undefined;
  /** Called with every request; what it returns happens to that request. */
  onRequest: (asked: Asked) => Fault | undefined;
  /** Called when a request has its answer, unless that was a fault. */
  onAnswered: (asked: Asked, status: number) => void;
  /** Removes an object, and no watch hears of it: what clients keep is behind what they can read. */
  readonly forget: (collection: string, key: string) => void;
  /** Ends the watches of a collection. */
  readonly cutWatches: (collection: string) => void;
  readonly close: () => Promise<void>;
}

const ADMINISTRATOR: User = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };

/** Starts one with our kinds and the namespace `plimsoll-system`. */
export async function apiDouble(): Promise<ApiDouble> {
  const parts = createServerState({ clock, log: createLog({ component: 'double', level: 'silent', format: 'json' }) });
  const app = apiApp({ server: parts.server, authenticate: () => ADMINISTRATOR, userOfToken: () => ADMINISTRATOR });
  const watches = openWatches();
  const http = createServer((request, response) => void answer(request, response));
  const double: ApiDouble = {
    ...storedObjects(parts.server),
    url: '',
    writes: [],
    failing: undefined,
    silent: undefined,
    onRequest: () => undefined,
    onAnswered: () => undefined,
    forget: (collection, key) => {
      watches.loseRemoval(collection, key);
      double.remove(collection, key);
    },
    cutWatches: watches.cut,
    close: () => {
      parts.stop();
      return close(http);
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const atMs = performance.now();
    const asked = readAsked(request);
    const fault = await withoutDelay(faultOf(double, asked));
    if (asked.method !== 'GET') recordWrite(request, double.writes, { ...asked, atMs });
    if (fault?.kind === 'silence') request.resume();
    else if (fault?.kind === 'stream') fault.write(response);
    else if (fault?.kind === 'answer') request.resume().on('end', () => sendJson(response, fault.status, fault.body));
    else {
      if (asked.isWatch) watches.add(asked.path, response);
      response.on('finish', () => double.onAnswered(asked, response.statusCode));
      app(request, response);
    }
  }

  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  double.put('/api/v1/namespaces', { metadata: { name: 'plimsoll-system' } });
  return Object.assign(double, { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}` });
}

function readAsked({ method = 'GET', url = '/' }: IncomingMessage): Asked {
  const { pathname, searchParams } = new URL(url, 'http://double');
  const isWatch = searchParams.get('watch') === 'true';
  return { method, path: pathname, isWatch, isDryRun: searchParams.get('dryRun') === 'All' };
}

function faultOf({ failing, silent, onRequest }: ApiDouble, asked: Asked): Fault | undefined {
  if (silent?.test(asked.path) === true) return { kind: 'silence' };
  if (failing === undefined) return onRequest(asked);
  return { kind: 'answer', status: failing, body: failureStatus(failing, 'failing on purpose') };
}

/** What is left of a fault once its delay is over. */
async function withoutDelay(fault: Fault | undefined): Promise<Exclude<Fault, { readonly kind: 'delay' }> | undefined> {
  if (fault?.kind !== 'delay') return fault;
  await letTimePass(fault.ms, 'double');
  return withoutDelay(fault.next);
}

/** The body is read as it passes, so that it is known before the answer. */
function recordWrite(
  request: IncomingMessage,
  writes: Write[],
  { method, path, isDryRun, atMs }: Asked & { atMs: number },
): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const text = Buffer.concat(chunks).toString('utf8');
    writes.push({ method, path, isDryRun, atMs, body: (text === '' ? {} : JSON.parse(text)) as Write['body'] });
  });
}

function close(http: Server): Promise<void> {
  return new Promise((resolve) => {
    http.close(() => resolve());
    http.closeAllConnections();
  });
}
