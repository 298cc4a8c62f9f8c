import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '#test/contract/harness.ts';
import { freePorts } from '#test/cluster/free-ports.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/own-cluster.ts';
import { PATIENCE_MS, preemptionScenario } from './preemption-scenario.ts';
import { type SchedulerProcess, startSchedulerProcess } from '#test/scheduler/scheduler-process.ts';

const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`kube-scheduler with the extender${why ?? ''}`, () => {
  let port = 0;
  let extender: SchedulerProcess;
  const own = ownCluster(async () => {
    [port = 0] = await freePorts(1);
    const config = { urlPrefix: `http://127.0.0.1:${port}`, preemptVerb: 'preempt', nodeCacheCapable: true };
    return { schedulerConfiguration: { extenders: [{ ...config, ignorable: true, httpTimeout: '2s' }] } };
  });

  beforeAll(async () => {
    extender = await startSchedulerProcess(own().cluster.kubeconfig, port);
  }, 60_000);
  afterAll(() => extender.stop());

  const { create, remove, placed } = preemptionScenario(own, 'default-scheduler');

  test('without an answer the scheduler takes the pod that it would have taken', async () => {
    await extender.stop();
    await remove('waiting');
    await create('second', 'high');
    await eventually(async () => expect(await placed()).toEqual(['important', 'second']), PATIENCE_MS);
  }, 60_000);
});
