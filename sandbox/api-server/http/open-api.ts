import { Buffer } from 'node:buffer';
import type { Express } from 'express';
import { UnknownPathError } from '#sandbox/api-server/errors/unknown-path-error.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';
import { createOpenApi } from '#sandbox/api-server/openapi/open-api-documents.ts';
import { sendBytes, sendJson } from './answer.ts';

const SWAGGER_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** `swagger: "2.0"` and nothing else: kubectl asks for this form only about kinds that `/openapi/v3` does not have. */
const EMPTY_SWAGGER = Buffer.from([0x0a, 0x03, 0x32, 0x2e, 0x30]);

/** `/openapi/v3`, one document a group version, and `/openapi/v2`. */
export function openApiRoutes(app: Express, server: ServerState): void {
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
