import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import { discovery } from './discovery.ts';
import { methodNotAllowed } from '#sandbox/api-server/errors/errors.ts';
import { UnknownPathError } from '#sandbox/api-server/errors/unknown-path-error.ts';
import { statusError } from '#sandbox/api-server/errors/status-error.ts';
import type { ApiRequest, User } from '#sandbox/api-server/operations/api-request.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';
import { sendError, sendJson, warningHeaders } from './answer.ts';
import type { Authenticate } from './authenticate.ts';
import { handleResource } from './handle-resource.ts';
import { openApiRoutes } from './open-api.ts';
import { readBytes } from './read-bytes.ts';
import { apiRequest } from './read-request.ts';
import { answerReview, reviewOfPath, REVIEWS } from './reviews.ts';
import { VERSION } from './version.ts';

export interface AppOptions {
  readonly server: ServerState;
  readonly authenticate: Authenticate;
  readonly userOfToken: (token: string) => User | undefined;
}

/** The whole surface of the API server. */
export function apiApp({ server, authenticate, userOfToken }: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('env', 'production').set('query parser', false);
  app.get(['/livez', '/readyz', '/healthz'], (_request, response) => void response.type('text/plain').send('ok'));
  app.get('/version', (_request, response) => sendJson(response, 200, VERSION));
  app.use((request: Request, response: Response, next) => {
    response.locals['user'] = authenticate(request.headers);
    next();
  });
  discoveryRoutes(app, server);
  openApiRoutes(app, server);
  app.use((request: Request, response: Response, next) => {
    answerObjects({ server, authenticate, userOfToken }, request, response).catch(next);
  });
  app.use(errorHandler(server));
  return app;
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

function discoveryRoutes(app: Express, { catalog }: ServerState): void {
  const documents = discovery(catalog, REVIEWS);
  const sendRoot = (request: Request, response: Response, plain: object, isCore: boolean): void => {
    const isAggregated = (request.headers.accept ?? '').includes('g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList');
    if (isAggregated) sendJson(response, 200, documents.aggregated(isCore), { 'content-type': AGGREGATED });
    else sendJson(response, 200, plain);
  };
  const sendFound = (response: Response, document: object | undefined): void => {
    if (document === undefined) throw new UnknownPathError();
    sendJson(response, 200, document);
  };
  app.get('/api', (request, response) =>
    sendRoot(request, response, documents.coreVersions(request.headers.host ?? ''), true),
  );
  app.get('/apis', (request, response) => sendRoot(request, response, documents.groups(), false));
  app.get('/api/:version', (request, response) => sendFound(response, documents.resources('', request.params.version)));
  app.get('/apis/:group', (request, response) => sendFound(response, documents.group(request.params.group)));
  app.get('/apis/:group/:version', (request, response) =>
    sendFound(response, documents.resources(request.params.group, request.params.version)),
  );
}

async function answerObjects({ server, userOfToken }: AppOptions, request: Request, response: Response): Promise<void> {
  const user = response.locals['user'] as User;
  const review = reviewOfPath(request.path);
  const body = await readBytes(request, response);
  if (review === undefined)
    return answerResource(server, apiRequest(server.catalog, request, { user, body }), response);
  if (request.method !== 'POST') throw methodNotAllowed();
  const warnings: string[] = [];
  const answer = answerReview(review, body, request.headers['content-type'] ?? '', {
    definitions: server.definitions,
    user,
    userOfToken,
    warnings,
  });
  sendJson(response, 201, answer, warningHeaders(warnings));
}

/** A refusal carries the warnings that were collected before it. */
async function answerResource(server: ServerState, request: ApiRequest, response: Response): Promise<void> {
  try {
    await handleResource({ server, request, response });
  } catch (error) {
    sendError(response, error, { log: server.log, warnings: request.warnings });
  }
}

/** Express itself refuses what it cannot read (a bad escape in the path, say) with an error that carries a status. */
function errorHandler({ log }: ServerState): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const status = (error as { status?: unknown }).status;
    const known = typeof status === 'number' && status >= 400 && status < 500;
    const refusal = known
      ? statusError({ code: status, reason: 'BadRequest', message: 'the request could not be read' })
      : error;
    sendError(response, refusal, { log, warnings: [] });
  };
}
