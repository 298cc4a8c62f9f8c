import express, { type Express } from 'express';
import { DEFAULT_BODY_LIMIT_BYTES } from './read-body.ts';

/** An express application as ours all start: JSON bodies up to a limit, no `X-Powered-By`, no guessing of proxies. */
export function jsonApp({ bodyLimitBytes = DEFAULT_BODY_LIMIT_BYTES } = {}): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('env', 'production');
  app.use(
    express.json({
      limit: bodyLimitBytes,
      strict: false,
      type: ['application/json', 'application/*+json'],
      inflate: false,
    }),
  );
  return app;
}
