import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { itemsOf } from '#shared/kube/decode/wire-object.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { endTerminatedPods } from '#test/cluster/support/end-terminated-pods.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { installShippedSet, startShipped } from '#test/cluster/support/shipped-set.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { eventually } from '#test/build/waiting.ts';
import { asking, onlyOn, PATIENCE_MS, podPath, RECORDS, removalScene } from './removal-scene.ts';

/** All that a node has. */
const WHOLE = '8';
const why = whyNoOwnCluster(process.env);

/** Kubernetes itself removes the pods: its scheduler, its taint manager, its Eviction API. */
describe.skipIf(why !== undefined)(`the record of removed pods${why ?? ''}`, () => {
  const own = ownCluster();
  const ended = new AbortController();
  let replicas: readonly SchedulerProcess[] = [];
  let ending: Promise<void>;

  beforeAll(async () => {
    const { admin } = own();
    await installShippedSet(own());
    await send('POST', '/api/v1/namespaces', { metadata: { name: 'other' } });
    for (const [name, value] of [
      ['low', 10],
      ['high', 1_000],
      ['highest', 2_000],
    ] as const)
      await send('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name }, value });
    await makeFakeNodes(admin, 'node', 6);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(6), PATIENCE_MS);
    replicas = await Promise.all([startRecord(), startRecord()]);
    await eventually(
      () => expect(replicas.some((each) => each.log().includes('Lease acquired'))).toBe(true),
      PATIENCE_MS,
    );
    ending = endTerminatedPods(admin, ended.signal);
  }, 120_000);
  afterAll(async () => {
    ended.abort();
    await ending;
    await Promise.all(replicas.map((each) => each.stop()));
  });

  const startRecord = () => startShipped(own(), 'disruption-record');
  const scene = removalScene(own);
  const { send, create, records, recordOf, preemptorsInEvents, makeOwner, evict, pressure, cause } = scene;

  test('a preempted pod is recorded with the pod that it made room for, and where that was placed (S0-24, S1-26)', async () => {
    await create('victim', { ...asking(WHOLE), nodeName: 'node-0', priorityClassName: 'low' });
    const uid = await create('preemptor', { ...asking(WHOLE), ...onlyOn('node-0'), priorityClassName: 'high' });
    await eventually(async () => {
      expect(await recordOf('victim')).toMatchObject({
        spec: {
          cause: 'Preemption',
          node: 'node-0',
          priorityClassName: 'low',
          priority: 10,
          madeRoomFor: { uid, pod: 'preemptor', priorityClassName: 'high', priority: 1_000, nominatedNode: 'node-0' },
        },
        status: { placedOn: 'node-0' },
      });
    }, PATIENCE_MS);
    expect(at(await recordOf('victim'), 'status.goneAt')).toEqual(expect.any(String));
    await eventually(async () => expect(await preemptorsInEvents('victim')).toContain(uid), PATIENCE_MS);
    await send('DELETE', '/apis/events.k8s.io/v1/namespaces/default/events');
    expect(at(await recordOf('victim'), 'spec.madeRoomFor.uid')).toBe(uid);
  }, 60_000);

  test('the pods of two preemptions on one node within a second are each told by the Event of the scheduler (S0-32)', async () => {
    for (const name of ['left', 'right']) await create(name, { nodeName: 'node-1', priorityClassName: 'low' });
    for (const name of ['one', 'two']) await create(name, { ...onlyOn('node-1'), priorityClassName: 'high' });
    for (const victim of ['left', 'right']) {
      await eventually(async () => {
        const record = await recordOf(victim);
        expect(await preemptorsInEvents(victim)).toContain(at(record, 'spec.madeRoomFor.uid'));
      }, PATIENCE_MS);
    }
  }, 60_000);

  test('a pod that is placed on another node in the end shows both nodes (S0-28)', async () => {
    await create('slow', {
      ...asking(WHOLE),
      nodeName: 'node-2',
      priorityClassName: 'low',
      terminationGracePeriodSeconds: 6,
    });
    await create('busy', { ...asking(WHOLE), nodeName: 'node-3', priorityClassName: 'highest' });
    await create('mover', { ...asking(WHOLE), ...onlyOn('node-2', 'node-3'), priorityClassName: 'high' });
    await eventually(async () => {
      expect(await send('GET', podPath('default', 'mover'))).toMatchObject({ status: { nominatedNodeName: 'node-2' } });
    }, PATIENCE_MS);
    await send('DELETE', podPath('default', 'busy'));
    await eventually(async () => {
      expect(await recordOf('slow')).toMatchObject({
        spec: { madeRoomFor: { pod: 'mover', nominatedNode: 'node-2' } },
        status: { placedOn: 'node-3' },
      });
    }, PATIENCE_MS);
  }, 60_000);

  test('a victim in another namespace learns the class of the pod, not its name', async () => {
    await create('tenant', { ...asking(WHOLE), nodeName: 'node-4', priorityClassName: 'low' }, { namespace: 'other' });
    const uid = await create('secret', { ...asking(WHOLE), ...onlyOn('node-4'), priorityClassName: 'high' });
    const record = await eventually(() => recordOf('tenant', 'other'), PATIENCE_MS);
    expect(at(record, 'spec.madeRoomFor')).toEqual({
      uid,
      priorityClassName: 'high',
      priority: 1_000,
      nominatedNode: 'node-4',
    });
    expect(JSON.stringify(record)).not.toContain('secret');
  }, 60_000);

  test('Kubernetes removes a pod in six ways, and each has its cause', async () => {
    const names = ['deleted', 'asked', 'drained', 'tainted', 'short', 'killed'] as const;
    const requests = asking('100m');
    const node = (name: string) => (['drained', 'tainted'].includes(name) ? 'node-5' : 'node-0');
    // node-0 is full, but a pod that names its node is not asked.
    for (const name of names) await create(name, { ...requests, nodeName: node(name) });
    await eventually(
      () => expect(replicas.some((each) => each.log().includes('Lease acquired'))).toBe(true),
      PATIENCE_MS,
    );
    const fail = (name: string, status: object) =>
      send('PATCH', `${podPath('default', name)}/status`, { status: { phase: 'Failed', ...status } });
    await send('DELETE', podPath('default', 'deleted'));
    await evict('asked');
    const target = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' };
    await fail('short', { reason: 'Evicted', conditions: [target] });
    const terminated = { exitCode: 137, reason: 'OOMKilled', startedAt: null, finishedAt: null };
    await fail('killed', {
      containerStatuses: [
        { name: 'main', image: 'x', imageID: 'x', ready: false, restartCount: 0, state: { terminated } },
      ],
    });
    await send('PATCH', '/api/v1/nodes/node-5', { spec: { unschedulable: true } });
    await eventually(async () =>
      expect(await send('GET', '/api/v1/nodes/node-5')).toMatchObject({ spec: { unschedulable: true } }),
    );
    await evict('drained');
    const taints = [{ key: 'test.plimsoll.dev/gone', effect: 'NoExecute' }];
    await send('PATCH', '/api/v1/nodes/node-5', { spec: { taints } });
    for (const [name, expected] of Object.entries({
      deleted: 'Deletion',
      asked: 'Unknown',
      drained: 'Drain',
      tainted: 'Taint',
      short: 'KubeletEviction',
      killed: 'OOMKill',
    }))
      await cause(name, expected);
  }, 60_000);

  test("an agent's eviction has the agent's reason, and the report of another node's agent counts nothing", async () => {
    const because = { code: 'HardThresholdMet', text: 'memory.available is 90Mi, below the hard threshold of 100Mi' };
    const owner = await makeOwner('hogs');
    const owned = { metadata: { ownerReferences: [owner] } };
    const uids = {
      hog: await create('hog', { ...asking('1m'), nodeName: 'node-0' }, owned),
      far: await create('far', { ...asking('1m'), nodeName: 'node-1' }),
    };
    const now = new Date().toISOString();
    const until = new Date(Date.now() + 600_000).toISOString();
    const evictions = Object.entries(uids).map(([name, uid]) => ({
      pod: `default/${name}`,
      uid,
      signal: 'memory.available',
      outcome: 'evicted',
      requestedAt: now,
      because,
    }));
    const kept = { namespace: 'default', kind: owner.kind, name: owner.name, uid: owner.uid };
    await pressure({ spec: { avoid: [{ owner: kept, until, cause: 'by hand', hard: false }] } });
    for (const name of ['hog', 'far']) await evict(name);
    await pressure({ status: { observedAt: now, mode: 'Enforce', conditions: [], signals: [], next: [], evictions } });
    await eventually(async () => {
      const spec = { cause: 'Eviction', requestedBy: 'plimsoll-agent', because };
      expect(await recordOf('hog')).toMatchObject({ spec });
      expect(await recordOf('far')).toMatchObject({ spec: { cause: 'Unknown' } });
    }, PATIENCE_MS);
    await create('hog-again', { ...asking('1m'), nodeName: 'node-1' }, owned);
    await eventually(async () => {
      const replacement = { pod: 'hog-again', node: 'node-1', sameNode: false };
      expect(await recordOf('hog')).toMatchObject({ status: { replacement, avoid: { until, hard: false } } });
    }, PATIENCE_MS);
  }, 60_000);

  test('when the leader ends, the other replica records what it left, once each; a storm is one record', async () => {
    const owner = await makeOwner('many');
    const names = Array.from({ length: 40 }, (_, index) => `many-${index}`);
    const single = Array.from({ length: 10 }, (_, index) => `single-${index}`);
    for (const name of names)
      await create(name, { ...asking('1m'), nodeName: 'node-0' }, { metadata: { ownerReferences: [owner] } });
    for (const name of single) await create(name, { ...asking('1m'), nodeName: 'node-0' });
    const [leader] = replicas.filter((each) => each.log().includes('Lease acquired'));
    const removing = [...single, ...names].map((name) => send('DELETE', podPath('default', name)));
    await leader?.stop();
    await Promise.all(removing);
    await eventually(async () => {
      const all = await records();
      const found = single.map((name) => all.filter((each) => at(each, 'spec.pod') === name).length);
      expect(found).toEqual(single.map(() => 1));
      const ofMany = all.filter((each) => at(each, 'spec.owner.name') === 'many');
      expect(ofMany).toHaveLength(21);
      const others = ofMany.flatMap((each) => itemsOf(at(each, 'status.others')));
      expect(
        [...ofMany.map((each) => at(each, 'spec.pod')), ...others.map((each) => at(each, 'pod'))].toSorted(),
      ).toEqual(names.toSorted());
    }, 90_000);
  }, 150_000);

  test('what happened while no replica ran is recorded by the next one', async () => {
    await create('unseen', { ...asking('1m'), nodeName: 'node-0' });
    const handled = async () => {
      const path = '/api/v1/namespaces/plimsoll-system/configmaps/plimsoll-disruptions';
      return Number(at(await send('GET', path), 'data.resourceVersion'));
    };
    const created = Number(at(await send('GET', podPath('default', 'unseen')), 'metadata.resourceVersion'));
    await eventually(async () => expect(await handled()).toBeGreaterThanOrEqual(created), PATIENCE_MS);
    await Promise.all(replicas.map((each) => each.stop()));
    await send('DELETE', podPath('default', 'unseen'));
    await eventually(async () => {
      const path = podPath('default', 'unseen');
      expect(await own().admin.request({ path })).toMatchObject({ kind: 'notFound' });
    }, PATIENCE_MS);
    replicas = [await startRecord()];
    await cause('unseen', 'Deletion');
  }, 120_000);

  test('a record cannot be changed, also not by an administrator', async () => {
    const record = await recordOf('victim');
    const path = `${RECORDS}/namespaces/default/disruptions/${textAt(record, 'metadata.name')}`;
    const body = { spec: { cause: 'Deletion' } };
    const refused = await own().admin.request({
      method: 'PATCH',
      path,
      contentType: 'application/merge-patch+json',
      body,
    });
    expect(refused).toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('is a record and cannot be changed') as string,
    });
  });
});
