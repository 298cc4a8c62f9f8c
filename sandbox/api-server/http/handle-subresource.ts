import { methodNotAllowed } from '#sandbox/api-server/errors/errors.ts';
import { bindPod } from '#sandbox/api-server/operations/bind.ts';
import { evictPod, EVICTED } from '#sandbox/api-server/operations/evict.ts';
import { scaleObject } from '#sandbox/api-server/operations/scale.ts';
import { replaceObject } from '#sandbox/api-server/operations/update.ts';
import { sendJson, warningHeaders } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { sendLog } from './send-log.ts';

/** Subresources that are not the object itself. */
export async function handleSubresource(exchange: Exchange): Promise<void> {
  const { server, request, response } = exchange;
  const allowed = request.type.subresources.find(({ name }) => name === request.subresource)?.verbs ?? [];
  if (!allowed.includes(verbOf(request.method))) throw methodNotAllowed();
  switch (request.subresource) {
    case 'eviction':
      await evictPod(server, request);
      return sendJson(response, 201, EVICTED, warningHeaders(request.warnings));
    case 'binding':
      await bindPod(server, request);
      return sendJson(response, 201, EVICTED, warningHeaders(request.warnings));
    case 'scale':
      return sendJson(response, 200, await scaleObject(server, request), warningHeaders(request.warnings));
    case 'finalize':
      return sendJson(response, 200, (await replaceObject(server, request)).object, warningHeaders(request.warnings));
    case 'log':
      return sendLog(exchange);
    default:
      throw methodNotAllowed();
  }
}

function verbOf(method: string): string {
  return { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }[method] ?? '';
}
