import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { PATIENCE_MS, preemptionScenario } from './preemption-scenario.ts';
import { installShippedSet, startShipped } from '#test/cluster/support/shipped-set.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { eventually } from '#test/build/waiting.ts';

const why = whyNoOwnCluster(process.env);
const REMOVED = /plimsoll_extender_nodes_total\{[^}]*verdict="removed"[^}]*\} (?<nodes>\d+)/;
/** While each of these ends, a scheduler that asks again by itself would ask ten times as often. */
const POKES = 100;
const UNKNOWN_VICTIM = { NodeNameToMetaVictims: { 'node-0': { Pods: [{ UID: 'unknown' }], NumPDBViolations: 0 } } };
const FAULTY: Readonly<Record<string, RequestListener>> = {
  'does not answer': () => undefined,
  'answers 500': (_, response) => response.writeHead(500).end(),
  'answers no JSON': (_, response) => response.end('<html>'),
  'names a victim that does not exist': (_, response) => response.end(JSON.stringify(UNKNOWN_VICTIM)),
};

describe.skipIf(why !== undefined)(`kube-scheduler with the extender${why ?? ''}`, () => {
  let port = 0;
  /** Each of these pods may preempt the one before. */
  let highest = 2_000;
  let extender: SchedulerProcess;
  const own = ownCluster(async () => {
    [port = 0] = await freePorts(1);
    const config = { urlPrefix: `http://127.0.0.1:${port}`, preemptVerb: 'preempt', nodeCacheCapable: true };
    return { schedulerConfiguration: { extenders: [{ ...config, ignorable: true, httpTimeout: '2s' }] } };
  });

  beforeAll(async () => {
    await installShippedSet(own());
    extender = await startShipped(own(), 'control-plane-extender', [], { port });
  }, 60_000);
  afterAll(() => extender.stop());

  const { createClass, create, remove, poke, placed } = preemptionScenario(own, 'default-scheduler');

  test('a pod that may take none but protected pods asks again only when another pod ends', async () => {
    const before = await removedNodes();
    for (let round = 0; round < POKES; round += 1) await poke(`poke-${round}`);
    await eventually(async () => expect(await removedNodes()).toBeGreaterThan(before), PATIENCE_MS);
    expect((await removedNodes()) - before).toBeLessThanOrEqual(POKES + 1);
  }, 60_000);

  async function removedNodes(): Promise<number> {
    return Number(REMOVED.exec(await extender.metrics())?.groups?.['nodes'] ?? 0);
  }

  test('without an answer the scheduler takes the pod that it would have taken', async () => {
    await extender.stop();
    await remove('waiting');
    await create('second', 'high');
    await eventually(async () => expect(await placed()).toEqual(['important', 'second']), PATIENCE_MS);
  }, 60_000);

  test.each(Object.entries(FAULTY))(
    'an extender that %s keeps no pod from being placed',
    async (fault, answer) => {
      const server = createServer(answer).listen(port, '127.0.0.1');
      const asked = once(server, 'request');
      const pending = fault.replaceAll(' ', '-').toLowerCase();
      await createClass(pending, (highest += 1));
      await create(pending, pending);
      await eventually(async () => expect(await placed()).toContain(pending), PATIENCE_MS);
      await asked;
      server.closeAllConnections();
      server.close();
    },
    60_000,
  );
});
