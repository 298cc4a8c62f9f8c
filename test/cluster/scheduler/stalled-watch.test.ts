import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '#shared/runtime/clock.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { type DelayingProxy, proxyKubeconfig } from '#test/fakes/delaying-proxy.ts';
import { type SchedulerProcess, startSchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { PATIENCE_MS, preemptionScenario } from './preemption-scenario.ts';
import { eventually } from '#test/build/waiting.ts';

/** Longer than the test: what the API server says to the extender meanwhile never arrives. */
const STALL_MS = 300_000;
const STALL_NOTICED_MS = 120_000;
const STALE = /plimsoll_extender_undecided_total\{[^}]*verb="preempt",reason="Stale"\} (?<requests>\d+)/;
const HEARD =
  /plimsoll_reflector_last_event_timestamp_seconds\{[^}]*resource="(?<kind>pods|nodes)"\} (?<seconds>[\d.e+]+)/g;
const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`an extender whose watches stall${why ?? ''}`, () => {
  let port = 0;
  let proxy: DelayingProxy;
  let extender: SchedulerProcess;
  const own = ownCluster(async () => {
    [port = 0] = await freePorts(1);
    const config = { urlPrefix: `http://127.0.0.1:${port}`, preemptVerb: 'preempt', nodeCacheCapable: true };
    return { schedulerConfiguration: { extenders: [{ ...config, ignorable: true, httpTimeout: '2s' }] } };
  });

  beforeAll(async () => {
    const { cluster } = own();
    const kubeconfig = join(cluster.folder, 'through-proxy.kubeconfig');
    proxy = await proxyKubeconfig(cluster.kubeconfig, kubeconfig);
    extender = await startSchedulerProcess(kubeconfig, port);
  }, 60_000);
  afterAll(async () => {
    await extender.stop();
    await proxy.close();
  });

  const { createClass, create, remove, poke, placed, pokedUntilPlaced } = preemptionScenario(own, 'default-scheduler');

  async function undecided(): Promise<number> {
    return Number(STALE.exec(await extender.metrics())?.groups?.['requests'] ?? 0);
  }

  test('a pod that came after the stall is preempted, a pod known to be protected is not, also once the view is stale', async () => {
    await remove('waiting');
    await remove('important');
    proxy.delayMs = STALL_MS;
    await create('fresh', 'low');
    await eventually(async () => expect(await placed()).toEqual(['fresh', 'opted-out']), PATIENCE_MS);
    await create('urgent', 'high');
    await pokedUntilPlaced(['opted-out', 'urgent'], STALL_NOTICED_MS);
    await create('later', 'high');
    let pokes = 0;
    await eventually(async () => {
      await poke(`poke-stale-${(pokes += 1)}`);
      expect(await undecided()).toBeGreaterThan(0);
    }, STALL_NOTICED_MS);
    expect(await placed()).toEqual(['opted-out', 'urgent']);
    await remove('later');
  }, 180_000);

  test('when the watches are back, the extender decides again', async () => {
    proxy.delayMs = 0;
    // By itself the extender gives a silent connection up after ninety seconds.
    const cutAt = systemClock.now() / 1_000;
    proxy.cut();
    await eventually(async () => {
      const heard = [...(await extender.metrics()).matchAll(HEARD)].map(({ groups }) => Number(groups?.['seconds']));
      expect(Math.min(...heard)).toBeGreaterThan(cutAt);
      // Of nodes nothing is new: the API server speaks of them about once a minute.
    }, STALL_NOTICED_MS);
    const before = await undecided();
    await createClass('higher', 2_000);
    await create('highest', 'higher');
    await pokedUntilPlaced(['highest', 'opted-out'], PATIENCE_MS);
    expect(await undecided()).toBe(before);
  }, 180_000);
});
