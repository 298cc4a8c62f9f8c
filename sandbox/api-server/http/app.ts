import { Buffer } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import { methodNotAllowed, badRequest, bodyTooLarge, tooManyRequests } from '#sandbox/api-server/errors/errors.ts';
import { UnknownPathError, statusError } from '#sandbox/api-server/errors/status-error.ts';
import type { ApiRequest, User } from '#sandbox/api-server/operations/api-request.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';
import { createBodyAllowance, readBody } from '#shared/http/read-body.ts';
import type { Catalog } from '#sandbox/api-server/catalog/catalog.ts';
import { createOpenApi } from '#sandbox/api-server/openapi/open-api-documents.ts';
import { discovery } from './discovery.ts';
import { sendError, sendJson, warningHeaders, sendBytes } from './answer.ts';
import type { Authenticate } from './authenticate.ts';
import { handleResource } from './handle-resource.ts';
import { answerReview, reviewOfPath, REVIEWS } from './reviews.ts';
import { parseRoute } from './route.ts';

export interface AppOptions {
  readonly server: ServerState;
  readonly authenticate: Authenticate;
  readonly userOfToken: (token: string) => User | undefined;
}

/** The complete HTTP API of the server. */
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

/** A refusal includes the warnings collected before it. */
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

/** The real server's own limit of a request. */
const MAX_BYTES = 3 * 1024 * 1024;

const ALLOWANCE = createBodyAllowance(64 * 1024 * 1024);
const NOTHING = Buffer.alloc(0);

/** The body of a request. Throws 413 while it is still being received, and 429 if too many bodies are held at once. */
async function readBytes(request: IncomingMessage, response: ServerResponse): Promise<Buffer> {
  if (request.method === 'GET' || request.method === 'HEAD') return NOTHING;
  const body = await readBody(request, { maxBytes: MAX_BYTES, allowance: ALLOWANCE });
  switch (body.kind) {
    case 'body':
      return body.bytes;
    case 'tooLarge':
      response.setHeader('connection', 'close');
      throw bodyTooLarge(MAX_BYTES);
    case 'overloaded':
      throw tooManyRequests('too many requests are being read, please try again later', 1, []);
    case 'aborted':
      throw badRequest('the request body ended before it was complete');
  }
}

interface AuthenticatedRequest {
  readonly user: User;
  readonly body: Buffer;
}

/** Reads path, query and headers of a request about objects. Throws 404 for a path that names nothing. */
function apiRequest(catalog: Catalog, request: IncomingMessage, { user, body }: AuthenticatedRequest): ApiRequest {
  const url = request.url ?? '/';
  const mark = url.indexOf('?');
  const { type, namespace, name, subresource, isWatchPath } = parseRoute(catalog, mark < 0 ? url : url.slice(0, mark));
  const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
  if (isWatchPath) query.set('watch', 'true');
  const { headers } = request;
  return {
    method: request.method ?? 'GET',
    user,
    type,
    namespace,
    name,
    subresource,
    query,
    contentType: headers['content-type'] ?? '',
    accept: headers.accept ?? '',
    userAgent: headers['user-agent'] ?? '',
    body,
    warnings: [],
  };
}

const SWAGGER_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** `swagger: "2.0"` and nothing else: kubectl asks for this form only about kinds that `/openapi/v3` does not have. */
const EMPTY_SWAGGER = Buffer.from([0x0a, 0x03, 0x32, 0x2e, 0x30]);

/** `/openapi/v3`, one document a group version, and `/openapi/v2`. */
function openApiRoutes(app: Express, server: ServerState): void {
  const documents = createOpenApi(server.catalog, server.definitions);
  app.get('/openapi/v3', (_request, response) => sendJson(response, 200, documents.index()));
  app.get('/openapi/v3/{*path}', (request, response) => {
    const document = documents.document(request.path.slice('/openapi/v3/'.length));
    if (document === undefined) throw new UnknownPathError();
    sendBytes(response, 200, document);
  });
  app.get('/openapi/v2', (request, response) => {
    const wantsProtobuf = (request.headers.accept ?? '').includes('proto-openapi');
    if (wantsProtobuf) sendBytes(response, 200, EMPTY_SWAGGER, { 'content-type': SWAGGER_PROTOBUF });
    else sendBytes(response, 200, documents.swagger());
  });
}

/** What `/version` answers: the release of Kubernetes whose behaviour this server follows. */
const VERSION = {
  major: '1',
  minor: '36',
  emulationMajor: '1',
  emulationMinor: '36',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '35',
  gitVersion: 'v1.36.3',
  gitCommit: '0000000000000000000000000000000000000000',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'node',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
} as const;
