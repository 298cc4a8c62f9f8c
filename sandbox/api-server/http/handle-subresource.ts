import { methodNotAllowed } from '#sandbox/api-server/errors/errors.ts';
import { bindPod } from '#sandbox/api-server/operations/verbs/bind.ts';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';
import { evictPod } from '#sandbox/api-server/operations/verbs/evict.ts';
import { scaleObject } from '#sandbox/api-server/operations/verbs/scale.ts';
import { replaceObject } from '#sandbox/api-server/operations/verbs/update.ts';
import { sendJson, warningHeaders } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { sendLog } from './send-log.ts';

/** Subresources that are not the object itself. */
export async function handleSubresource(exchange: Exchange): Promise<void> {
  const { server, request, response } = exchange;
  const allowed = request.type.subresources.find(({ name }) => name === request.subresource)?.verbs ?? [];
  if (!allowed.includes(verbOf(request.method))) throw methodNotAllowed();
  if (request.subresource === 'log') return sendLog(exchange);
  const { code, body } = await carryOut(server, request);
  sendJson(response, code, body, warningHeaders(request.warnings));
}

interface Outcome {
  readonly code: number;
  readonly body: object;
}

async function carryOut(server: ServerState, request: ApiRequest): Promise<Outcome> {
  switch (request.subresource) {
    case 'eviction':
      await evictPod(server, request);
      return { code: 201, body: CREATED };
    case 'binding':
      await bindPod(server, request);
      return { code: 201, body: CREATED };
    case 'scale':
      return { code: 200, body: await scaleObject(server, request) };
    case 'finalize':
      return { code: 200, body: (await replaceObject(server, request)).object };
    default:
      throw methodNotAllowed();
  }
}

/** What a granted eviction or binding is answered with. */
const CREATED = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } as const;

function verbOf(method: string): string {
  return { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }[method] ?? '';
}
