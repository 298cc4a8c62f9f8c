import { fileURLToPath } from 'node:url';
import express, { type Express } from 'express';
import { problemHandler } from '#shared/http/problem.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { createLiveStream } from './live-stream.ts';
import type { DashboardSources } from './sources.ts';
import { viewOf } from './view-of.ts';

export interface DashboardOptions {
  readonly sources: DashboardSources;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const PAGE = fileURLToPath(new URL('./page/', import.meta.url));

/** Everything the page needs comes from here, and nothing else may be loaded or run. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

/** The dashboard: read only, no route writes. `/` the page, `/api/view` one view as JSON, `/api/live` views as they change. */
export function dashboardApp({ sources, clock, log, signal }: DashboardOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  const live = createLiveStream({
    message: () => JSON.stringify(viewOf(sources, clock.now())),
    onChange: sources.onChange.bind(sources),
    clock,
    signal,
  });
  app.use((_request, response, next) => {
    response.set(HEADERS);
    next();
  });
  app.get('/api/view', (_request, response) => {
    response.set('cache-control', 'no-store').json(viewOf(sources, clock.now()));
  });
  app.get('/api/live', (_request, response) => {
    if (!live.add(response)) response.status(503).json({ message: 'too many open pages' });
  });
  app.use(express.static(PAGE, { index: 'index.html' }));
  app.use(problemHandler(log));
  return app;
}
