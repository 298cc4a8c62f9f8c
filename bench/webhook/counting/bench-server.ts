import type { ByteStream, KubeClient } from '#shared/kube/client/client.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { PROTOBUF } from '#shared/kube/protobuf/envelope.ts';
import { cpuSeconds } from '#bench/shared/support/cpu-seconds.ts';
import { bytesField, encodeEnvelope, encodeFrame } from '#test/build/encode-message.ts';
import { namesOf, podMessage, QUOTAS, rawPod, TEAMS } from './pod-messages.ts';

const PAGE_SIZE = 500;
const COMMA = Buffer.from(',');

function rawQuota(index: number): KubeObject {
  return {
    metadata: { name: `quota-${index}`, uid: `quota-${index}`, generation: 1, resourceVersion: '1' },
    spec: {
      priorityClassNames: [`class-${index}`],
      hard: { pods: '1000000', 'requests.cpu': '1000000', 'requests.memory': '1Pi' },
    },
  };
}

function rawNamespace(index: number): KubeObject {
  const labels = { 'plimsoll.dev/priority-quota': 'enforced' };
  return { metadata: { name: `team-${index}`, uid: `team-${index}`, resourceVersion: '1', labels } };
}

/** The part of a list that a page has. */
interface Cut {
  readonly indices: readonly number[];
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
}

/** Answers like an API server; the work for its lists is measured, and events exist as bytes in advance. */
export class BenchServer {
  readonly #quotas = new Map(Array.from({ length: QUOTAS }, (_, index) => [`quota-${index}`, rawQuota(index)]));
  readonly #watches = new Map<string, (line: Buffer) => void>();
  readonly #pods: number;
  #revision: number;
  writes = 0;
  podLists = 0;
  /** CPU seconds for creating pages, which is not the webhook's work. */
  ownSeconds = 0;

  constructor(pods: number) {
    this.#pods = pods;
    this.#revision = pods + 1;
  }

  send(kind: string, line: Buffer): void {
    this.#watches.get(kind)?.(line);
  }

  /** Five of seven events change a pod; the other two delete one and create another one. */
  events(count: number): readonly Buffer[] {
    return Array.from({ length: count }, (_, index) => {
      const step = index % 7;
      const turn = Math.floor(index / 7);
      const pod = step === 5 ? turn : step === 6 ? this.#pods + turn : (turn * 5 + step) % this.#pods;
      this.#revision += 1;
      const message = podMessage(pod, { ...namesOf(pod), resourceVersion: String(this.#revision) });
      const type = step === 5 ? 'DELETED' : step === 6 ? 'ADDED' : 'MODIFIED';
      return encodeFrame(type, encodeEnvelope('v1', 'Pod', message));
    });
  }

  readonly client: KubeClient = {
    request: (request) => Promise.resolve({ kind: 'ok', object: this.#answer(request), warnings: [] }),
    stream: ({ path, query = {}, signal }) => {
      const kind = path.split('/').at(-1) ?? '';
      const bytes = query['watch'] === true ? this.#watch(kind, signal) : this.#list(kind, query);
      const mediaType = kind === 'pods' ? PROTOBUF : 'application/json';
      const stream: ByteStream = { mediaType, [Symbol.asyncIterator]: () => bytes, close: () => undefined };
      return Promise.resolve({ kind: 'ok', object: stream, warnings: [] });
    },
    close: () => undefined,
  };

  /** A quota, a quota's new status, or a pod to tell the revision by. */
  #answer({ path, method, body }: KubeRequest): unknown {
    const [, name = ''] = /\/priorityquotas\/([^/]+)/.exec(path) ?? [];
    const quota = this.#quotas.get(name);
    if (quota === undefined) return { metadata: { resourceVersion: String(this.#revision) }, items: [rawPod(0)] };
    if (method !== 'PUT') return structuredClone(quota);
    this.writes += 1;
    this.#revision += 1;
    const sent = JSON.parse(JSON.stringify(body)) as KubeObject;
    const stored = { ...sent, metadata: { ...sent.metadata, resourceVersion: String(this.#revision) } };
    this.#quotas.set(name, stored);
    this.send('priorityquotas', lineOf('MODIFIED', stored));
    return stored;
  }

  async *#list(kind: string, query: NonNullable<KubeRequest['query']>): AsyncGenerator<Buffer> {
    if (kind === 'pods') this.podLists += query['continue'] === undefined ? 1 : 0;
    const startedAt = cpuSeconds();
    const bytes = this.#page(kind, Number(query['continue'] ?? 0));
    this.ownSeconds += cpuSeconds() - startedAt;
    for (let at = 0; at < bytes.length; at += 65_536) {
      await new Promise((resolve) => setImmediate(resolve));
      yield bytes.subarray(at, at + 65_536);
    }
  }

  #page(kind: string, page: number): Buffer {
    const quotas = [...this.#quotas.values()];
    if (kind === 'pods') return podPage(this.#cut(page, this.#pods));
    const rawOf = kind === 'namespaces' ? rawNamespace : (n: number): unknown => quotas[n];
    const cut = this.#cut(page, kind === 'namespaces' ? TEAMS : QUOTAS);
    return pageOf(cut, (n) => Buffer.from(JSON.stringify(rawOf(n))));
  }

  #cut(page: number, size: number): Cut {
    const from = page * PAGE_SIZE;
    const isLast = from + PAGE_SIZE >= size;
    return {
      indices: Array.from({ length: Math.min(PAGE_SIZE, size - from) }, (_, n) => from + n),
      metadata: { resourceVersion: String(this.#revision), ...(!isLast && { continue: String(page + 1) }) },
    };
  }

  async *#watch(kind: string, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
    const lines: Buffer[] = [];
    let wake = Promise.withResolvers<undefined>();
    const hear = (line: Buffer | undefined): void => {
      if (line !== undefined) lines.push(line);
      wake.resolve(undefined);
    };
    this.#watches.set(kind, hear);
    signal?.addEventListener('abort', () => hear(undefined), { once: true });
    while (signal?.aborted !== true) {
      await wake.promise;
      wake = Promise.withResolvers();
      if (lines.length > 0) yield Buffer.concat(lines.splice(0));
    }
  }
}

function podPage({ indices, metadata }: Cut): Buffer {
  const { resourceVersion, continue: token = '' } = metadata;
  const listMeta = [bytesField(2, Buffer.from(resourceVersion)), bytesField(3, Buffer.from(token))];
  const items = indices.map((index) => bytesField(2, podMessage(index)));
  return encodeEnvelope('v1', 'PodList', Buffer.concat([bytesField(1, Buffer.concat(listMeta)), ...items]));
}

function pageOf({ indices, metadata }: Cut, jsonOf: (index: number) => Buffer): Buffer {
  const items = indices.map(jsonOf);
  const head = Buffer.from(`{"kind":"List","apiVersion":"v1","metadata":${JSON.stringify(metadata)},"items":[`);
  const separated = items.flatMap((item, n) => (n === 0 ? [item] : [COMMA, item]));
  return Buffer.concat([head, ...separated, Buffer.from(']}')]);
}

function lineOf(type: string, object: unknown): Buffer {
  return Buffer.from(`${JSON.stringify({ type, object })}\n`);
}
