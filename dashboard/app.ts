import { fileURLToPath } from 'node:url';
import express, { type Express, type Request, type Response } from 'express';
import { problemHandler, RequestProblem } from '#shared/http/problem.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Admit } from './access/admit.ts';
import type { Viewer } from './access/viewer.ts';
import { createLiveStream } from './live-stream.ts';
import { send } from './on-request.ts';
import { podRoutes } from './pods/pod-routes.ts';
import type { DashboardSources } from './sources.ts';
import { wholeView } from './viewer-update.ts';
import { whatIfRoutes } from './what-if/what-if-routes.ts';

export interface DashboardOptions {
  readonly sources: DashboardSources;
  readonly admit: Admit;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Shown on every page, to distinguish clusters. */
  readonly clusterName?: string | undefined;
}

const PAGE = fileURLToPath(new URL('./public/', import.meta.url));
const OK = 200;

/** Everything that the page needs comes from this server; the browser loads and runs nothing else. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/**
 * The dashboard. It is read-only: no route writes. `/` is the page (401 if it has to ask for a token; the page itself
 * contains no data), `/api/view` returns everything as JSON, `/api/live` streams updates, with `?node=NAME` the details
 * of one node, `/api/pods` explains and finds pods, and `/api/what-if` simulates what a node would do.
 */
export function dashboardApp({ sources, admit, clock, log, signal, clusterName }: DashboardOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  const live = createLiveStream({ sources, clock, signal, clusterName });
  app.use((_request, response, next) => {
    response.set(HEADERS);
    next();
  });
  app.get('/', async (request, response) => {
    const admission = await admit(request);
    const status = admission.kind === 'admitted' ? OK : admission.status;
    response.status(status).set(challenge(status)).sendFile('index.html', { root: PAGE, cacheControl: false });
  });
  app.get('/api/view', async (request, response) => {
    const viewer = await viewerOf(admit, request, response);
    send(response, await wholeView(viewer, sources, clock.now()));
  });
  app.get('/api/live', async (request, response) => {
    const viewer = await viewerOf(admit, request, response);
    const { node } = request.query;
    const isOpen = live.add(response, viewer, typeof node === 'string' ? node : undefined);
    if (!isOpen) throw new RequestProblem(503, 'too many open pages: close one or try again');
  });
  const viewer = (request: Request, response: Response): Promise<Viewer> => viewerOf(admit, request, response);
  const onRequest = { sources, viewerOf: viewer, clock, signal };
  app.use('/api/what-if', whatIfRoutes(onRequest));
  app.use('/api/pods', podRoutes(onRequest));
  app.use(express.static(PAGE, { index: false }));
  app.use(problemHandler(log));
  return app;
}

async function viewerOf(admit: Admit, request: Request, response: Response): Promise<Viewer> {
  const admission = await admit(request);
  if (admission.kind === 'admitted') return admission.viewer;
  response.set(challenge(admission.status));
  throw new RequestProblem(admission.status, admission.message);
}

function challenge(status: number): Readonly<Record<string, string>> {
  return status === 401 ? { 'www-authenticate': 'Bearer realm="plimsoll"' } : {};
}
