import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as send, type RequestOptions } from 'node:https';
import { cpuSeconds } from '#bench/shared/support/cpu-seconds.ts';
import { median } from '#bench/shared/support/quantile.ts';
import { createLog } from '#shared/runtime/log.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { startApiServer } from '#sandbox/api-server/start-api-server.ts';

/**
 * Speed of the sandbox API server over HTTPS, with server and client in separate processes: pod creates without
 * webhooks, watch deliveries to ten watchers while pods change, and a list of 5,000 pods. JSON on stdout.
 */
const PODS = 5_000;
const CONCURRENCY = 48;
const WATCHERS = 10;
const LISTS = 7;
const LINE_FEED = 10;
const PATH = '/api/v1/namespaces/default/pods';

interface Address {
  readonly port: number;
  readonly token: string;
  readonly ca: string;
}

if (process.send === undefined) await measure();
else await serveUntilTold();

async function serveUntilTold(): Promise<void> {
  const log = createLog({ component: 'bench', level: 'warn', format: 'json' });
  const server = await startApiServer({ host: '127.0.0.1', port: 0, clock: systemClock, log });
  process.send?.({ port: server.port, token: server.token, ca: server.caPem } satisfies Address);
  process.on('message', () => process.send?.(usage()));
  await once(process, 'disconnect');
  await server.close();
}

/** CPU time of the server so far; on a busy machine it says more than the elapsed time. */
interface Usage {
  readonly cpuSeconds: number;
  readonly rssMiB: number;
}

function usage(): Usage {
  return { cpuSeconds: cpuSeconds(), rssMiB: Math.round(process.memoryUsage().rss / 2 ** 20) };
}

async function usageOf(child: ChildProcess): Promise<Usage> {
  child.send('usage');
  const [answer] = (await once(child, 'message')) as [Usage];
  return answer;
}

async function measure(): Promise<void> {
  const child = fork(import.meta.filename);
  const [address] = (await once(child, 'message')) as [Address];
  const client = connect(address);
  const atStart = await usageOf(child);
  const createSeconds = await timed(() => inParallel(PODS, (n) => client.call('POST', PATH, pod(`plain-${n}`))));
  const afterCreates = await usageOf(child);
  const lists: number[] = [];
  let listBytes = 0;
  for (let n = 0; n < LISTS; n += 1) {
    const seconds = await timed(async () => void (listBytes = await client.call('GET', PATH)));
    lists.push(seconds * 1000);
  }
  const beforeDeliveries = await usageOf(child);
  const deliverySeconds = await deliver(client);
  const atEnd = await usageOf(child);
  client.close();
  child.disconnect();
  const result = {
    benchmark: 'sandbox-api',
    createsPerSecond: Math.round(PODS / createSeconds),
    watchDeliveriesPerSecond: Math.round((WATCHERS * PODS) / deliverySeconds),
    listOf5000PodsMs: Math.round(median(lists)),
    listMiB: Number((listBytes / 2 ** 20).toFixed(1)),
    serverCpuMicrosecondsPerCreate: perPod(afterCreates, atStart),
    serverCpuMicrosecondsPerPatchWithTenDeliveries: perPod(atEnd, beforeDeliveries),
    serverRssMiB: atEnd.rssMiB,
    goals: { createsPerSecond: 1_500, watchDeliveriesPerSecond: 10_000, listOf5000PodsMs: 500 },
  };
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

function perPod(after: Usage, before: Usage): number {
  return Math.round(((after.cpuSeconds - before.cpuSeconds) * 1e6) / PODS);
}

/** Ten watchers on all pods while each pod's labels change once. */
async function deliver(client: Client): Promise<number> {
  let received = 0;
  let wake = (): void => undefined;
  const everything = new Promise<void>((resolve) => (wake = resolve));
  for (let n = 0; n < WATCHERS; n += 1) {
    await client.watch(`${PATH}?watch=true&resourceVersion=${client.newest()}`, (lines) => {
      received += lines;
      if (received >= WATCHERS * PODS) wake();
    });
  }
  return timed(async () => {
    const patch = { metadata: { labels: { changed: 'yes' } } };
    await inParallel(PODS, (n) => client.call('PATCH', `${PATH}/plain-${n}`, patch, 'application/merge-patch+json'));
    await everything;
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

async function inParallel(count: number, work: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) await work(n);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

interface Client {
  /** Resolves with the number of bytes of the answer. */
  readonly call: (method: string, path: string, body?: object, contentType?: string) => Promise<number>;
  readonly watch: (path: string, onLines: (count: number) => void) => Promise<void>;
  readonly newest: () => number;
  readonly close: () => void;
}

function connect({ port, token, ca }: Address): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY, ca });
  const watching = new Agent({ ca });
  const options = (method: string, path: string): RequestOptions => ({
    host: '127.0.0.1',
    port,
    method,
    path,
    agent,
    headers: { authorization: `Bearer ${token}`, 'user-agent': 'bench' },
  });
  let newest = 0;
  return {
    call: (method, path, body, contentType = 'application/json') =>
      new Promise((resolve, reject) => {
        const request = send(options(method, path), (response) => {
          let bytes = 0;
          response.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
            if (method === 'GET' && newest === 0)
              newest = Number(/"resourceVersion":"(\d+)"/.exec(chunk.toString())?.[1]);
          });
          response.on('end', () => {
            if ((response.statusCode ?? 500) < 300) resolve(bytes);
            else reject(new Error(`${method} ${path}: HTTP status ${response.statusCode ?? 0}`));
          });
        }).on('error', reject);
        if (body !== undefined) request.setHeader('content-type', contentType);
        request.end(body === undefined ? undefined : JSON.stringify(body));
      }),
    watch: (path, onLines) =>
      new Promise((resolve, reject) => {
        send({ ...options('GET', path), agent: watching }, (response) => {
          response.on('data', (chunk: Buffer) => onLines(countLines(chunk)));
          response.on('error', () => undefined);
          resolve();
        })
          .on('error', reject)
          .end();
      }),
    newest: () => newest,
    close: () => {
      agent.destroy();
      watching.destroy();
    },
  };
}

function countLines(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) count += 1;
  return count;
}

function pod(name: string): object {
  const resources = { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } };
  const env = ['A', 'B', 'C'].map((letter) => ({ name: letter, value: 'value' }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'bench', tier: 'batch' }, annotations: { note: 'made by a benchmark' } },
    spec: {
      containers: [{ name: 'main', image: 'registry.test/idle:1', resources, env, ports: [{ containerPort: 80 }] }],
    },
  };
}
