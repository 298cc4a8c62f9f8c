import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from 'vitest';
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
import { type ReplicaClient, replicaClient } from '#test/fakes/replica-client.ts';
import { runningApiServer } from '#test/sandbox/api-server/running-api-server.ts';
import { eventually } from '#test/build/waiting.ts';
import { NODE_POLICIES, nodePolicy, WRITING_TAINTS } from './node-policies.ts';

/** A lease of 15 s ends after 1.5 s. */
const FASTER = 10;
const TIMEOUT_MS = 60_000;
const PATIENCE_MS = 20_000;
const NODES = '/api/v1/nodes';
const PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/plimsoll-system/leases/plimsoll-node-controller';
const TAINT = 'plimsoll.dev/memory-pressure';
const COUNT = 8;
const log = createLog({ component: 'test', level: 'silent', format: 'json' });

interface Replica extends ReplicaClient {
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

/** Two replicas of the node controller on one API server. */
describe(
  'a leader of the node controller that loses its lease in the middle of a pass',
  { timeout: TIMEOUT_MS },
  () => {
    const server = runningApiServer();
    let admin: KubeClient;
    let names: readonly string[];
    let first: Replica;
    let second: Replica;
    let round = 0;

    beforeAll(async () => {
      admin = connect();
      await installPlimsoll(admin);
      await send('POST', NODE_POLICIES, nodePolicy('all', WRITING_TAINTS));
    }, TIMEOUT_MS);
    afterAll(() => admin.close());

    beforeEach(async () => {
      round += 1;
      names = Array.from({ length: COUNT }, (_, index) => `round-${round}-${index}`);
      for (const name of names) await createNode(name);
      first = start();
      await eventually(async () => expect(await leader()).not.toBe(''), PATIENCE_MS);
      second = start();
    });
    afterEach(async () => {
      for (const { stop } of [first, second]) stop.abort();
      await Promise.all([first.done, second.done]);
      for (const { client } of [first, second]) client.close();
      for (const name of names) await send('DELETE', `${NODES}/${name}`);
      for (const name of names) await send('DELETE', `${PRESSURES}/${name}`);
    });

    function connect(): KubeClient {
      const { url, token, caPem: ca } = server();
      return createClient(directConnection({ server: url, token, ca }), { userAgent: 'test' });
    }

    function start(): Replica {
      const replica = replicaClient(connect());
      const stop = new AbortController();
      const configuration = nodesSchema.parse({ mostTaintedPercent: 100, writesPerMinute: 6_000 });
      const metrics = createMetrics('scheduler');
      const own = {
        client: replica.client,
        configuration,
        clock: fastClock(FASTER),
        random: () => 0,
        log,
        metrics,
      };
      const lease = { name: 'plimsoll-node-controller', namespace: 'plimsoll-system' };
      const streams = new SharedStreams();
      const parts = [nodeController({ ...own, streams })];
      const reading = streams.run(stop.signal);
      const done = runController({ ...own, lease, parts }, stop.signal).then(() => reading);
      return Object.assign(replica, { stop, done });
    }

    async function send(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<unknown> {
      const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      const outcome = await admin.request({ method, path, contentType, ...(body && { body }) });
      expect(outcome).toMatchObject({ kind: 'ok' });
      return at(outcome, 'object');
    }

    async function createNode(name: string): Promise<void> {
      await send('POST', NODES, { metadata: { name } });
      await send('POST', PRESSURES, { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name } });
    }

    /** Writes the status of each node as its agent does, at once: what stands in between is acted on. */
    async function report(memory: 'True' | 'False', of = names, mode = 'Enforce'): Promise<void> {
      const now = new Date().toISOString();
      const conditions = [{ type: 'Memory', status: memory, reason: 'x', message: 'x', lastTransitionTime: now }];
      const status = { observedAt: now, mode, conditions };
      for (const name of of) await send('PATCH', `${PRESSURES}/${name}/status`, { status });
    }

    async function leader(): Promise<unknown> {
      const outcome = await admin.request({ path: LEASE });
      return outcome.kind === 'ok' ? at(outcome, 'object.spec.holderIdentity') : '';
    }

    /** Names of the nodes with our taint, and with our condition in state True. */
    async function shown(): Promise<readonly (readonly string[])[]> {
      const nodes = at(await send('GET', NODES), 'items') as readonly unknown[];
      const isTainted = (node: unknown) => has(at(node, 'spec.taints'), { key: TAINT });
      const isTrue = (node: unknown) =>
        has(at(node, 'status.conditions'), { type: 'plimsoll.dev/MemoryContention', status: 'True' });
      return [isTainted, isTrue].map((is) => nodes.filter(is).map((node) => String(at(node, 'metadata.name'))));
    }

    const settled = (expected: readonly string[]): Promise<void> =>
      eventually(async () => expect(await shown()).toEqual([expected, expected]), PATIENCE_MS);

    /** Waits for at least so many changes of a replica, or changes that it holds or no longer waits for. */
    function until(replica: Replica, count: 'changes' | 'held' | 'abandoned', least: number): Promise<void> {
      const counted = () => (count === 'changes' ? replica.changes.length : replica[count]);
      return eventually(() => {
        expect(counted()).toBeGreaterThanOrEqual(least);
        return Promise.resolve();
      }, PATIENCE_MS);
    }

    test('writes nothing more once another holder is in the lease, and the other replica finishes', async () => {
      first.hold();
      await report('True');
      await until(first, 'held', 1);
      await send('PATCH', LEASE, { spec: { holderIdentity: 'another', leaseDurationSeconds: 30 } });
      await until(first, 'abandoned', 1);
      expect(second.changes).toEqual([]);
      // It may not get the lease again.
      first.isCut = true;
      await settled(names);
      expect(first.changes).toHaveLength(1);
      // A change that the API server refuses as a conflict is made again.
      expect(new Set(second.changes).size).toBe(2 * COUNT);
    });

    test('a write that was on its way when the lease ended changes nothing that the next leader has written', async () => {
      const [held = '', ...others] = names;
      first.hold();
      await report('True');
      await until(first, 'held', 1);
      first.isCut = true;
      await settled(names);
      await report('False', [held]);
      await settled(others);
      const late = await first.deliver();
      expect(late.map(({ kind }) => kind)).toEqual(['conflict']);
      expect(await shown()).toEqual([others, others]);
    });

    test('a late write of a condition, which the API server accepts at any time, is put right', async () => {
      await report('True', names.slice(1));
      await settled(names.slice(1));
      const [name = ''] = names;
      first.hold();
      await reportConditionOnly(name, 'True');
      await until(first, 'held', 1);
      expect(first.changes.at(-1)).toBe(`${NODES}/${name}/status`);
      first.isCut = true;
      await until(second, 'changes', 1);
      await reportConditionOnly(name, 'False');
      await until(second, 'changes', 2);
      const isPutRight = async () => expect((await shown())[1]).toEqual(names.slice(1));
      // Before it is stored, the late write may come first, and then nothing is to be put right.
      await eventually(isPutRight, PATIENCE_MS);
      expect((await first.deliver()).map(({ kind }) => kind)).toEqual(['ok']);
      await until(second, 'changes', 3);
      await eventually(isPutRight, PATIENCE_MS);
    });

    /** In mode DryRun a node gets its condition and no taint. */
    function reportConditionOnly(name: string, memory: 'True' | 'False'): Promise<void> {
      return report(memory, [name], 'DryRun');
    }
  },
);

function has(list: unknown, entry: Readonly<Record<string, string>>): boolean {
  const all = (list ?? []) as readonly Record<string, unknown>[];
  return all.some((each) => Object.entries(entry).every(([key, value]) => each[key] === value));
}
