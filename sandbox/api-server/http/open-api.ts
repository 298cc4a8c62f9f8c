import type { Express } from 'express';
import { UnknownPathError } from '#sandbox/api-server/errors/unknown-path-error.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';
import { createOpenApi } from '#sandbox/api-server/openapi/open-api-documents.ts';
import { sendBytes, sendJson } from './answer.ts';

/** `/openapi/v3`, one document a group version, and `/openapi/v2`. */
export function openApiRoutes(app: Express, server: ServerState): void {
  const documents = createOpenApi(server.catalog, server.definitions);
  app.get('/openapi/v3', (_request, response) => sendJson(response, 200, documents.index()));
  app.get('/openapi/v3/{*path}', (request, response) => {
    const document = documents.document(request.path.slice('/openapi/v3/'.length));
    if (document === undefined) throw new UnknownPathError();
    sendBytes(response, 200, document);
  });
  app.get('/openapi/v2', (_request, response) => sendBytes(response, 200, documents.swagger()));
}
