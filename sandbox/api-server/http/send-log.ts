import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { badRequest } from '#sandbox/api-server/errors/errors.ts';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';
import type { PodLogRequest } from '#sandbox/api-server/operations/server-state.ts';
import { currentRevision } from '#sandbox/api-server/operations/verbs/update.ts';
import { fieldsAt, listAt, textAt, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import type { Exchange } from './exchange.ts';

/** GET of pods/log: passes on what the pod's node has, as plain text. */
export async function sendLog({ server, request, response }: Exchange): Promise<void> {
  const pod = currentRevision(server, request).object;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const chunks = server.podLogs(logRequest(request, pod, gone.signal))[Symbol.asyncIterator]();
  const first = await chunks.next();
  response.writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'no-cache, private' });
  response.flushHeaders();
  await pipeline(Readable.from(resumed(first, chunks)), response).catch(ignoreAbort);
}

/** The first chunk is read before the headers are sent, so that a failure can still be a Status. */
async function* resumed<T>(first: IteratorResult<T>, rest: AsyncIterator<T>): AsyncGenerator<T> {
  for (let chunk = first; chunk.done !== true; chunk = await rest.next()) yield chunk.value;
}

function ignoreAbort(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
}

function logRequest({ query, name }: ApiRequest, pod: KubeObject, signal: AbortSignal): PodLogRequest {
  return {
    pod,
    container: containerOf(pod, query.get('container') ?? '', name),
    follow: query.get('follow') === 'true',
    previous: query.get('previous') === 'true',
    timestamps: query.get('timestamps') === 'true',
    tailLines: readCount(query, 'tailLines'),
    sinceSeconds: readCount(query, 'sinceSeconds'),
    limitBytes: readCount(query, 'limitBytes'),
    signal,
  };
}

function containerOf(pod: KubeObject, asked: string, name: string): string {
  const spec = fieldsAt(pod, 'spec');
  const names = [...listAt(spec, 'containers'), ...listAt(spec, 'initContainers')].map((container) =>
    textAt(container, 'name'),
  );
  const [first = ''] = names;
  if (asked !== '') {
    if (names.includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  if (names.length === 1) return first;
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`);
}

function readCount(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? '';
  if (text === '') return undefined;
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw badRequest(`${name}: cannot parse ${JSON.stringify(text.slice(0, 40))}, expected a whole number`);
}
