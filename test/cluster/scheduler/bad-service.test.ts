import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOUR_MS } from '#shared/domain/base/durations.ts';
import { decodeNodePressure } from '#shared/api/node-pressure.ts';
import { textAt } from '#test/contract/harness.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { startShipped } from '#test/cluster/support/shipped-set.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { eventually } from '#test/build/waiting.ts';
import { PATIENCE_MS } from './removal-scene.ts';
import { reschedulingScene } from './rescheduling-scene.ts';

const PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';
const why = whyNoOwnCluster(process.env);

/** On node-0 pods of `killed` are killed for memory, and those of `web` wait for cpu; elsewhere both work. */
describe.skipIf(why !== undefined)(`pods that fail on one node${why ?? ''}`, () => {
  let port = 0;
  /** Without the webhook, the extender alone keeps replacements away from a node. */
  const own = ownCluster(async () => {
    [port = 0] = await freePorts(1);
    const entry = { urlPrefix: `http://127.0.0.1:${port}`, filterVerb: 'filter', nodeCacheCapable: true };
    return { schedulerConfiguration: { extenders: [{ ...entry, httpTimeout: '2s' }] } };
  });
  const scene = reschedulingScene(own, ({ app, node }) => {
    const killed = { name: 'main', image: 'i', imageID: '', ready: true, restartCount: 4, started: true };
    const lastState = { terminated: { exitCode: 137, reason: 'OOMKilled' } };
    const isKilled = app === 'killed' && node === 'node-0';
    return { ageMs: HOUR_MS, ...(isKilled && { status: { containerStatuses: [{ ...killed, lastState }] } }) };
  });
  const { send, pods, statusOf } = scene;
  let extender: SchedulerProcess | undefined;
  afterAll(() => extender?.stop());

  beforeAll(async () => {
    const { admin } = own();
    extender = await startShipped(own(), 'control-plane-extender', [], { port });
    await makeFakeNodes(admin, 'node', 3);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(3), PATIENCE_MS);
    for (const name of ['node-0', 'node-1', 'node-2'])
      await send('POST', PRESSURES, { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name } });
    for (const app of ['killed', 'web', 'busy']) await scene.createReplicas(app, 3);
    await eventually(async () => expect(await scene.countReadyReplicas()).toBe(9), PATIENCE_MS);
    await Promise.all([scene.start('rescheduling'), scene.start('disruption-record')]);
  }, 120_000);

  /** kube-scheduler spreads the replicas of an owner, one on each node. */
  async function podOn(node: string, app: string) {
    const found = (await pods()).filter((each) => each.node === node && each.app === app);
    expect(found).toHaveLength(1);
    return found[0] ?? { name: '', uid: '' };
  }

  async function reportPressure(node: string, status: object): Promise<void> {
    const whole = { observedAt: new Date().toISOString(), mode: 'DryRun', conditions: [], ...status };
    await send('PATCH', `${PRESSURES}/${node}/status`, { status: whole });
  }

  /** Gone from node-0 with the reason in its record, placed on another node, and kept away from node-0 for an hour. */
  async function expectMoved(uid: string, app: string, because: object): Promise<void> {
    await eventually(async () => {
      const records = (await scene.records()).filter((each) => textAt(each, 'spec.podUID') === uid);
      expect(records).toMatchObject([{ spec: { cause: 'Rescheduling', node: 'node-0', because } }]);
    }, PATIENCE_MS);
    await eventually(async () => {
      const placed = (await pods()).filter((each) => each.app === app && !each.isLeaving);
      expect(placed.map(({ node }) => node === 'node-0' || node === '')).toEqual([false, false, false]);
    }, PATIENCE_MS);
    const { avoid } = decodeNodePressure(await send('GET', `${PRESSURES}/node-0`));
    const until = avoid.find(({ owner }) => owner.name === app)?.until ?? 0;
    expect((until - Date.now()) / HOUR_MS).toBeCloseTo(1, 1);
  }

  test('the victim moves: a pod that is killed for memory on its node (S3-4, S3-31)', async () => {
    const { uid } = await podOn('node-0', 'killed');
    await scene.createPolicy('victims', { mode: 'Enforce', badService: { oomKills: 3 } });
    const text = 'victim on node node-0: the pod was killed for memory 4 times (limit 3)';
    await expectMoved(uid, 'killed', { code: 'BadServiceVictim', text });
    expect(await statusOf('victims')).toMatchObject({ evicted: [{ uid, code: 'BadServiceVictim' }] });
  }, 90_000);

  test('the aggressor moves: a pod that uses more than it requests of what another one waits for (S3-5)', async () => {
    const [web, busy] = [await podOn('node-0', 'web'), await podOn('node-0', 'busy')];
    await reportPressure('node-0', {
      pods: [
        { pod: `default/${web.name}`, uid: web.uid, cpu: '500m', waiting: { cpu: 63 } },
        { pod: `default/${busy.name}`, uid: busy.uid, cpu: '7', waiting: { cpu: 2 } },
      ],
    });
    await scene.createPolicy('aggressors', { mode: 'Enforce', badService: { stalls: 40, move: 'Aggressor' } });
    const text = `aggressor on node node-0: the pod uses 7.00 cores of cpu and requests 1.00 cores, while pod default/${web.name} waits for cpu 63% of the time (limit 40%)`;
    await expectMoved(busy.uid, 'busy', { code: 'BadServiceAggressor', text });
    expect((await podOn('node-0', 'web')).uid).toBe(web.uid);
  }, 90_000);
});
