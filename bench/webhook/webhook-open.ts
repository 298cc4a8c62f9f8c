/** Latency of reviews that arrive at a fixed rate, whether or not earlier ones are answered (open loop). JSON on stdout. */
import { loadavg } from 'node:os';
import { quantile, rounded } from '#bench/shared/support/quantile.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { postRequest, reviewClient, type ReviewClient } from './served/review-client.ts';
import { startRig, validateBody } from './served/rig.ts';
import type { ServerProcess } from '#test/webhook/support/server-process.ts';

const CONNECTIONS = 64;
const WARM_UP = 600;
const SECONDS = 8;
const RATES = [1_000, 4_000] as const;

interface Run {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly cpuMsPerReview: number;
  readonly residentMiB: number;
}

/** Poisson arrivals; each latency counts from the moment at which the request was due. */
async function run(server: ServerProcess, clients: readonly ReviewClient[], perSecond: number): Promise<Run> {
  const request = postRequest('/validate', validateBody());
  const random = randomSource(7);
  const idle = [...clients];
  const queue: number[] = [];
  const latencies: number[] = [];
  const begin = performance.now();
  const cpuBefore = server.cpuMs();
  let due = begin;
  let open = 0;

  function start(client: ReviewClient, dueAt: number): void {
    open += 1;
    void client.send(request).then((status) => {
      if (status !== 200) throw new Error(`answered ${status}`);
      latencies.push(performance.now() - dueAt);
      open -= 1;
      const next = queue.shift();
      if (next === undefined) idle.push(client);
      else start(client, next);
    });
  }

  while (due < begin + SECONDS * 1_000) {
    while (due <= performance.now()) {
      const client = idle.pop();
      if (client === undefined) queue.push(due);
      else start(client, due);
      due += (-Math.log(1 - random.next()) * 1_000) / perSecond;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  while (open > 0) await new Promise((resolve) => setImmediate(resolve));
  const at = (share: number) => rounded(quantile(latencies, share), 2);
  return {
    perSecond,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    p999Ms: at(0.999),
    cpuMsPerReview: rounded((server.cpuMs() - cpuBefore) / latencies.length),
    residentMiB: server.residentMiB(),
  };
}

const rig = await startRig();
try {
  const results: Record<string, Run[]> = {};
  for (const [name, server] of [
    ['bare', rig.bare],
    ['webhook', rig.webhook],
  ] as const) {
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => reviewClient(server.port)));
    const warm = postRequest('/validate', validateBody());
    for (let sent = 0; sent < WARM_UP; sent += 1) await clients[sent % CONNECTIONS]?.send(warm);
    results[name] = [];
    for (const rate of RATES) results[name].push(await run(server, clients, rate));
    for (const client of clients) client.close();
  }
  const loadAverage = loadavg()[0];
  const targets = { p99MsAt1000: 5, residentMiBAt4000: 128, cpuMsPerReview: 0.15 };
  console.log(
    JSON.stringify({ bodyBytes: Buffer.byteLength(validateBody()), ...results, loadAverage, targets }, undefined, 2),
  );
} finally {
  await rig.stop();
}
