import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { runController } from '#shared/kube/lease/run-controller.ts';
import { createLog } from '#shared/runtime/log.ts';
import { SharedStreams } from '#shared/kube/reflector/shared-streams.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { nodeController } from '#scheduler/nodes/node-controller.ts';
import { nodesSchema } from '#scheduler/nodes/nodes-configuration.ts';
import { at } from '#test/contract/harness.ts';
import { fastClock } from '#test/fakes/fast-clock.ts';
import { runningApiServer } from '#test/sandbox/api-server/running-api-server.ts';
import { eventually } from '#test/build/waiting.ts';
import { NODE_POLICIES, nodePolicy, WRITING_TAINTS } from './node-policies.ts';

/** The first wait of 5 s takes half a second. */
const FASTER = 10;
const TIMEOUT_MS = 60_000;
const PATIENCE_MS = 20_000;
const NODE = '/api/v1/nodes/n0';
const PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';
const EVENTS = '/apis/events.k8s.io/v1/namespaces/default/events';
/** Until the controller may add its taint again, each time after it was removed. */
const WAITS_MS = [5_000, 10_000, 20_000].map((ms) => ms / FASTER);

const server = runningApiServer();
const stop = new AbortController();
const clock = fastClock(FASTER);
const metrics = createMetrics('scheduler');
let clients: readonly KubeClient[];
let controlling: Promise<void>;
let reading: Promise<void>;

beforeAll(async () => {
  const { url, token, caPem: ca } = server();
  const connect = () => createClient(directConnection({ server: url, token, ca }), { userAgent: 'test' });
  const [admin, client] = [connect(), connect()];
  clients = [admin, client];
  await installPlimsoll(admin);
  await send('POST', NODE_POLICIES, nodePolicy('all', WRITING_TAINTS));
  await send('POST', '/api/v1/nodes', { metadata: { name: 'n0' } });
  await send('POST', PRESSURES, {
    apiVersion: 'plimsoll.dev/v1alpha1',
    kind: 'NodePressure',
    metadata: { name: 'n0' },
  });
  const configuration = nodesSchema.parse({ mostTaintedPercent: 100, writesPerMinute: 6_000 });
  const log = createLog({ component: 'test', level: 'silent', format: 'json' });
  const context = { client, clock, random: () => 0, log, metrics };
  const streams = new SharedStreams();
  const parts = [nodeController({ ...context, streams, configuration })];
  reading = streams.run(stop.signal);
  const lease = { name: 'plimsoll-node-controller', namespace: 'plimsoll-system' };
  controlling = runController({ ...context, lease, parts }, stop.signal);
}, TIMEOUT_MS);
afterAll(async () => {
  stop.abort();
  await Promise.all([controlling, reading]);
  for (const client of clients) client.close();
});

async function send(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<unknown> {
  const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const outcome = await clients[0]?.request({ method, path, contentType, ...(body && { body }) });
  expect(outcome).toMatchObject({ kind: 'ok' });
  return at(outcome, 'object');
}

/** As the agent does once a second. */
async function report(): Promise<void> {
  const now = new Date(clock.now()).toISOString();
  const conditions = [{ type: 'Memory', status: 'True', reason: 'x', message: 'x', lastTransitionTime: now }];
  await send('PATCH', `${PRESSURES}/n0/status`, { status: { observedAt: now, mode: 'Enforce', conditions } });
}

/** Another controller: removes each taint as soon as it sees it. Resolves with the time. */
async function undo(): Promise<number> {
  await eventually(async () => {
    await report();
    expect(at(await send('GET', NODE), 'spec.taints')).toMatchObject([{ key: 'plimsoll.dev/memory-pressure' }]);
  }, PATIENCE_MS);
  const undoneAt = performance.now();
  await send('PATCH', NODE, { spec: { taints: null } });
  return undoneAt;
}

test(
  'another controller that removes our taint is left alone for longer and longer, with a metric and an Event',
  async () => {
    const undone: number[] = [];
    for (let round = 0; round <= WAITS_MS.length; round += 1) undone.push(await undo());
    const waited = undone.slice(1).map((time, index) => time - (undone[index] ?? 0));
    // The taint is seen a moment after it was written, now sooner, now later.
    for (const [index, wait] of WAITS_MS.entries()) expect(waited[index]).toBeGreaterThan(0.8 * wait);
    await eventually(async () => {
      expect(await metrics.text()).toMatch(/^plimsoll_scheduler_contested_nodes 1$/m);
      expect(at(await send('GET', EVENTS), 'items')).toMatchObject([
        {
          reason: 'NodeWriteContested',
          regarding: { kind: 'Node', name: 'n0' },
          note: 'another controller undoes plimsoll.dev/memory-pressure on this node: 3 times in a row; next attempt in 40 s at the earliest',
        },
      ]);
    }, PATIENCE_MS);
  },
  TIMEOUT_MS,
);
