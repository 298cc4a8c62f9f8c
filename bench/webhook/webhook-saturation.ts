/** How many reviews per second one webhook process answers over kept TLS connections, compared with a bare server. JSON on stdout. */
import { loadavg } from 'node:os';
import { median, rounded } from '#bench/shared/support/quantile.ts';
import { reviewClient, postRequest, type ReviewClient } from './served/review-client.ts';
import { mutateBody, startRig, validateBody } from './served/rig.ts';
import type { ServerProcess } from '#test/webhook/support/server-process.ts';

const CONNECTIONS = 16;
const BLOCKS = 10;
const BLOCK_MS = 1_000;
/** V8 recompiles the code of a review several times, the last time after about 20,000 reviews. */
const WARM_UP_REVIEWS = 25_000;

interface Block {
  readonly perSecond: number;
  /** CPU time per wall time: about 1 if the server, not the client, was the limit. */
  readonly busy: number;
  /** By the server's own CPU time, so that a busy machine does not count against it. */
  readonly perCpuSecond: number;
  readonly cpuMsEach: number;
}

interface BenchedServer {
  readonly server: ServerProcess;
  readonly clients: readonly ReviewClient[];
  readonly request: Buffer;
}

async function connectAll(server: ServerProcess, request: Buffer): Promise<BenchedServer> {
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => reviewClient(server.port)));
  return { server, clients, request };
}

async function warmUp({ clients, request }: BenchedServer): Promise<void> {
  let left = WARM_UP_REVIEWS;
  const send = async (client: ReviewClient): Promise<void> => {
    for (; left > 0; left -= 1) await client.send(request);
  };
  await Promise.all(clients.map(send));
}

async function runBlock({ server, clients, request }: BenchedServer, ms: number): Promise<Block> {
  const [startedAt, cpuBefore] = [performance.now(), server.cpuMs()];
  const counts = await Promise.all(clients.map((client) => hammer(client, request, startedAt + ms)));
  const elapsedMs = performance.now() - startedAt;
  const answered = counts.reduce((sum, count) => sum + count, 0);
  const cpuMs = server.cpuMs() - cpuBefore;
  return {
    perSecond: (answered / elapsedMs) * 1_000,
    busy: cpuMs / elapsedMs,
    perCpuSecond: (answered / cpuMs) * 1_000,
    cpuMsEach: cpuMs / answered,
  };
}

async function hammer(client: ReviewClient, request: Buffer, until: number): Promise<number> {
  let answered = 0;
  while (performance.now() < until) {
    const status = await client.send(request);
    if (status !== 200) throw new Error(`answered ${status}`);
    answered += 1;
  }
  return answered;
}

function summarise(blocks: readonly Block[]) {
  return {
    reviewsPerSecond: Math.round(median(blocks.map(({ perSecond }) => perSecond))),
    busy: rounded(median(blocks.map(({ busy }) => busy)), 2),
    reviewsPerCpuSecond: Math.round(median(blocks.map(({ perCpuSecond }) => perCpuSecond))),
    cpuMsPerReview: rounded(median(blocks.map(({ cpuMsEach }) => cpuMsEach))),
  };
}

/**
 * Keeps the client awake between answers. Otherwise a server that is slower than its client would pay with each answer
 * for waking it, and the bare one would not: a cost of this benchmark, not of the server.
 */
function keepAwake(signal: AbortSignal): void {
  if (!signal.aborted) setImmediate(keepAwake, signal);
}

const rig = await startRig();
const measured = new AbortController();
try {
  keepAwake(measured.signal);
  const subjects = {
    validate: await connectAll(rig.webhook, postRequest('/validate', validateBody())),
    mutate: await connectAll(rig.webhook, postRequest('/mutate', mutateBody())),
    bare: await connectAll(rig.bare, postRequest('/validate', validateBody())),
  };
  const names = ['validate', 'mutate', 'bare'] as const;
  const blocks: Record<(typeof names)[number], Block[]> = { validate: [], mutate: [], bare: [] };
  for (const name of names) await warmUp(subjects[name]);
  for (let block = 0; block < BLOCKS; block += 1) {
    for (const name of names) blocks[name].push(await runBlock(subjects[name], BLOCK_MS));
  }
  const [validate, mutate, bare] = [summarise(blocks.validate), summarise(blocks.mutate), summarise(blocks.bare)];
  const besideBare = (each: ReturnType<typeof summarise>) => ({
    costByCpu: rounded(each.cpuMsPerReview / bare.cpuMsPerReview, 2),
    rateByWall: rounded(each.reviewsPerSecond / bare.reviewsPerSecond, 2),
  });
  const result = {
    bodyBytes: Buffer.byteLength(validateBody()),
    validate,
    mutate,
    bare,
    besideBare: { validate: besideBare(validate), mutate: besideBare(mutate) },
    loadAverage: loadavg()[0],
    residentMiB: rig.webhook.residentMiB(),
    targets: { reviewsPerSecond: 6_000, costByCpu: 3, cpuMsPerReview: 0.15, residentMiB: 128 },
  };
  console.log(JSON.stringify(result, undefined, 2));
  for (const { clients } of Object.values(subjects)) for (const client of clients) client.close();
} finally {
  measured.abort();
  await rig.stop();
}
