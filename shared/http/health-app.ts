import express, { type Express } from 'express';
import type { Log } from '#shared/runtime/log.ts';
import { healthListener } from './health-listener.ts';
import type { HealthSources } from './health.ts';
import { problemHandler } from './problem.ts';

/** Health and metrics as an express application, to be served alone or mounted. */
export function healthApp(sources: HealthSources, log: Log): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(healthListener(sources, log));
  app.use(problemHandler(log));
  return app;
}
