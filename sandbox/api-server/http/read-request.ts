import type { IncomingMessage } from 'node:http';
import type { Catalog } from '#sandbox/api-server/catalog/catalog.ts';
import type { ApiRequest, User } from '#sandbox/api-server/operations/api-request.ts';
import { parseRoute } from './route.ts';

interface Known {
  readonly user: User;
  readonly body: Buffer;
}

/** Reads path, query and headers of a request about objects. Throws 404 for a path that names nothing. */
export function apiRequest(catalog: Catalog, request: IncomingMessage, { user, body }: Known): ApiRequest {
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
