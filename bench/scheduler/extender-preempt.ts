/**
 * How long the extender takes to answer kube-scheduler about a preemption: 500 proposed nodes with 4 or 30 victims each,
 * of 30 pods on a node, over HTTP on loopback, with the V8 flags of the manifests. The client is a process of its own
 * that allocates next to nothing, so that its garbage collection is not measured. `guarded` is the share of nodes on
 * which a victim opted out, so that other victims must be found. With `queues` all pods stand in managed namespaces, and
 * each answer is held to the guarantee of their queue, which no victim breaches. JSON on stdout: milliseconds per request from the first
 * byte sent to the last byte received, processor time of the server, and how long its event loop was blocked at most,
 * and how many requests were `undecided`, that is answered by protection alone.
 * `floor` is the same for a Node server that parses the same body and writes an answer of the same size, and decides
 * nothing; both are asked in turns, so that a busy machine slows both alike. With two processors or more, server and
 * client each have one of their own (`taskset`).
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { cpus } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { collectBody } from '#shared/http/read-body.ts';
import { serve } from '#shared/http/serve.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { cpuSeconds } from '#bench/shared/support/cpu-seconds.ts';
import { quantile, rounded } from '#bench/shared/support/quantile.ts';
import { extenderListener } from '#scheduler/extender/extender-listener.ts';
import { extenderVerbs } from '#scheduler/extender/extender-verbs.ts';
import { preemptionRules } from '#scheduler/extender/preemption-rules.ts';
import { loopsSchema, createPreemptionLoops } from '#scheduler/preemptions/preemption-loops.ts';
import { fixedClasses } from '#test/build/classes.ts';
import { type Case, clusterOf, NODES, OPTED_OUT, PODS_PER_NODE, uidOf } from './support/extender-cluster.ts';
import { V8_FLAGS } from './support/scheduler-process.ts';

const CORES = cpus().length;
const WARM_UP = 200;
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 1_000);
const RULES = { budgets: 'BestEffort', usageAware: false, tieBreak: 'none' } as const;

const CASES: readonly Case[] = [
  { victims: 4, guarded: 0, queues: false },
  { victims: 30, guarded: 0, queues: false },
  { victims: 4, guarded: 0.1, queues: false },
  { victims: 4, guarded: 0, queues: true },
  { victims: 30, guarded: 0, queues: true },
];

/** The victims of a node come in order of importance, as kube-scheduler sends them. */
function bodyOf(victims: number): string {
  const uids = (node: number) =>
    Array.from({ length: victims }, (_, rank) => ({ UID: uidOf(node, victims - 1 - rank) }));
  const proposed = Array.from({ length: NODES }, (_, node): [string, object] => [
    `node-${node}`,
    { Pods: uids(node), NumPDBViolations: 0 },
  ]);
  const resources = { requests: { cpu: String(victims), memory: '1Gi' } };
  const spec = { priority: 1_000, containers: [{ name: 'main', resources }] };
  const labels = { 'plimsoll.dev/queue': 'taker' };
  const Pod = { metadata: { name: 'incoming', namespace: 'default', uid: 'incoming', labels }, spec };
  return JSON.stringify({ Pod, NodeNameToVictims: null, NodeNameToMetaVictims: Object.fromEntries(proposed) });
}

/** The cost of Node itself: it parses the same body and writes a precomputed answer of the same size. */
const floorHandler: RequestListener = (request, response) => {
  collectBody(request, { maxBytes: 16 * 1024 * 1024 }, (body) => {
    if (body.kind !== 'body') return;
    const { NodeNameToMetaVictims } = JSON.parse(body.bytes.toString('utf8')) as Record<string, unknown>;
    const text = JSON.stringify({ NodeNameToMetaVictims });
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
    response.end(text, 'latin1');
  });
};

async function measure(measured: Case) {
  const { victims } = measured;
  const log = createLog({ component: 'bench', level: 'silent', format: 'json' });
  const metrics = createMetrics('bench');
  const loops = createPreemptionLoops(loopsSchema.parse({ mode: 'Enforce' }), systemClock);
  const { snapshot, keeper } = clusterOf(measured);
  const verbs = extenderVerbs({
    loops,
    events: { record: () => undefined },
    snapshot,
    keeper,
    missing: () => [],
    isStale: () => false,
    idleFor: () => 0,
    voided: { note: () => undefined },
    rules: preemptionRules(RULES, { classes: fixedClasses([OPTED_OUT]), loops, queues: keeper }),
    clock: systemClock,
    log,
    metrics,
  });
  const handler = extenderListener({
    verbs,
    bodyLimitBytes: 16 * 1024 * 1024,
    maxRequests: 16,
    clock: systemClock,
    log,
    metrics,
  });
  const server = await serve({ handler, host: '127.0.0.1', port: 0 });
  const floor = await serve({ handler: floorHandler, host: '127.0.0.1', port: 0 });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const before = cpuSeconds();
  const { times, floorTimes } = await timesOfClient(server.port, floor.port, victims);
  const used = cpuSeconds() - before;
  delay.disable();
  await Promise.all([server.close(), floor.close()]);
  const at = (share: number, of = times) => rounded(quantile(of, share), 2);
  const bodyKiB = Math.round(bodyOf(victims).length / 1_024);
  const blocked = { p99BlockMs: rounded(delay.percentile(99) / 1e6, 2), longestBlockMs: rounded(delay.max / 1e6, 2) };
  const undecided = sumOf(await metrics.text(), 'plimsoll_extender_undecided_total');
  // Of both servers together.
  const cpuMs = rounded((used * 1_000) / (ROUNDS + WARM_UP), 2);
  const floorFigures = { floorP50Ms: at(0.5, floorTimes), floorP99Ms: at(0.99, floorTimes) };
  return { ...measured, bodyKiB, p50Ms: at(0.5), p99Ms: at(0.99), ...floorFigures, cpuMs, ...blocked, undecided };
}

/** Of all series of a counter. */
function sumOf(text: string, counter: string): number {
  const lines = text.split('\n').filter((line) => line.startsWith(`${counter}{`));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

interface Times {
  readonly times: readonly number[];
  readonly floorTimes: readonly number[];
}

async function timesOfClient(...figures: readonly number[]): Promise<Times> {
  return JSON.parse(await runRole('client', figures, [])) as Times;
}

/** Sends requests as kube-scheduler does, one at a time; prints the time of each. */
async function runClient(port: number, floorPort: number, victims: number): Promise<void> {
  const [ask, askFloor] = [await connectTo(port), await connectTo(floorPort)];
  const request = requestOf(bodyOf(victims));
  const times: number[] = [];
  const floorTimes: number[] = [];
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const [took, floorTook] = [await timeOf(ask, request), await timeOf(askFloor, request)];
    if (round < 0) continue;
    times.push(took);
    floorTimes.push(floorTook);
  }
  console.log(JSON.stringify({ times, floorTimes } satisfies Times));
}

async function timeOf(ask: (request: Buffer) => Promise<Buffer>, request: Buffer): Promise<number> {
  const start = performance.now();
  const answer = await ask(request);
  const took = performance.now() - start;
  const head = answer.subarray(0, 500).toString();
  if (!head.startsWith('HTTP/1.1 200') || !answer.includes('"node-499"')) throw new Error(head);
  return took;
}

function requestOf(body: string): Buffer {
  const head = ['POST /preempt HTTP/1.1', 'Host: extender', 'Content-Type: application/json'];
  return Buffer.from([...head, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n'));
}

/** A connection that reads into one buffer, so that no garbage collection of the client is measured. */
async function connectTo(port: number): Promise<(request: Buffer) => Promise<Buffer>> {
  const answer = Buffer.alloc(4 * 1024 * 1024);
  let length = 0;
  let resolveAnswer: (answer: Buffer) => void = () => undefined;
  const keep = (read: number, chunk: Uint8Array): boolean => {
    answer.set(chunk.subarray(0, read), length);
    length += read;
    if (length >= lengthOfAnswer(answer)) resolveAnswer(answer.subarray(0, length));
    return true;
  };
  const socket = connect({ host: '127.0.0.1', port, onread: { buffer: Buffer.alloc(256 * 1024), callback: keep } });
  await once(socket, 'connect');
  // The connection alone does not keep the process alive.
  socket.unref();
  return (request) => {
    length = 0;
    socket.ref().write(request);
    return new Promise((resolve) => {
      resolveAnswer = (whole) => resolve((socket.unref(), whole));
    });
  };
}

/** Of the head and the body, in bytes. */
function lengthOfAnswer(answer: Buffer): number {
  const head = answer.subarray(0, 1_024).toString('latin1');
  const [, body] = /content-length: (\d+)/i.exec(head) ?? [];
  return head.indexOf('\r\n\r\n') + 4 + Number(body);
}

/** Server and client on separate processors, if there are two. */
async function runRole(
  role: 'server' | 'client',
  figures: readonly number[],
  flags: readonly string[],
): Promise<string> {
  const command = [process.execPath, ...flags, fileURLToPath(import.meta.url), role, ...figures.map(String)];
  const pinned = CORES > 1 ? ['taskset', '-c', role === 'server' ? '0' : '1', ...command] : command;
  const [program = '', ...args] = pinned;
  const { stdout } = await promisify(execFile)(program, args);
  return stdout;
}

async function runBench(): Promise<void> {
  const results: unknown[] = [];
  for (const { victims, guarded, queues } of CASES) {
    results.push(JSON.parse(await runRole('server', [victims, guarded, Number(queues)], V8_FLAGS)));
  }
  const size = { nodes: NODES, podsPerNode: PODS_PER_NODE, warmUp: WARM_UP, rounds: ROUNDS };
  console.log(JSON.stringify({ bench: 'extender-preempt', ...size, results }, undefined, 2));
}

const [role, ...figures] = process.argv.slice(2);
const [first = 0, second = 0, third = 0] = figures.map(Number);
if (role === 'client') await runClient(first, second, third);
else if (role === 'server')
  console.log(JSON.stringify(await measure({ victims: first, guarded: second, queues: third === 1 })));
else await runBench();
