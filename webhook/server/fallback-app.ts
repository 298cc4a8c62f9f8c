import express, { type Express } from 'express';
import { problemHandler, RequestProblem } from '#shared/http/problem.ts';
import type { Log } from '#shared/runtime/log.ts';

/** What the admission port answers to every path that is no webhook: a 404 that repeats nothing of the request. */
export function fallbackApp(log: Log): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(() => {
    throw new RequestProblem(404, 'Path not found');
  });
  app.use(problemHandler(log));
  return app;
}
