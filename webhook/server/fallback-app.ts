import express, { type Express } from 'express';
import { problemHandler, RequestProblem } from '#shared/http/problem.ts';
import type { Log } from '#shared/runtime/log.ts';
import { FAILURES } from '#webhook/messages.ts';

/** The answer of the admission port to every unknown path: 404, without echoing the request. */
export function fallbackApp(log: Log): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(() => {
    const { code, message } = FAILURES.pathNotFound();
    throw new RequestProblem(code, message);
  });
  app.use(problemHandler(log));
  return app;
}
