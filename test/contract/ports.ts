import { expect, test } from 'vitest';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { createEventRecorder } from '#shared/kube/events/event-recorder.ts';
import { evictPod } from '#shared/kube/events/evict-pod.ts';
import { type LeaseTerm, runWithLease } from '#shared/kube/lease/leader-lease.ts';
import { deleteObject, getObject, listObjects, patchObject } from '#shared/kube/client/objects.ts';
import { createReflector, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { CONFIG_MAPS, LEASES, PODS } from '#shared/kube/resource.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { at, configMap, contractHarness, type ContractTarget, pod } from './harness.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { seededJitter } from '#test/fakes/jitter.ts';
import { aborted, eventually } from '#test/build/waiting.ts';

const log = createLog({ component: 'contract', level: 'silent', format: 'json' });

/** What stands on top of an API server: reads and writes with typed outcomes, reflector, eviction, events, lease. */
export function portContract(target: () => ContractTarget): void {
  const api = contractHarness(target);

  test('objects answer with outcomes, not with surprises', async () => {
    const { client, namespace } = api;
    const address = { resource: CONFIG_MAPS, namespace, name: 'typed' };
    expect(await getObject(client, address)).toMatchObject({ kind: 'notFound', status: 404 });
    await api.post(api.core('configmaps'), configMap('typed'));
    expect(await getObject(client, address)).toMatchObject({ kind: 'ok', object: { data: { value: '1' } } });
    const stale = { metadata: { resourceVersion: '1' }, data: { value: '2' } };
    expect(await patchObject(client, address, stale, { type: 'merge' })).toMatchObject({ kind: 'conflict' });
    expect(await listObjects(client, address, { limit: 1 })).toMatchObject({
      kind: 'ok',
      object: { resourceVersion: expect.stringMatching(/^\d+$/) as string, items: [expect.anything()] },
    });
    expect(await deleteObject(client, address, { resourceVersion: '1' })).toMatchObject({ kind: 'conflict' });
    expect(await deleteObject(client, address)).toMatchObject({ kind: 'ok' });
    expect(await deleteObject(client, { resource: PODS, namespace, name: 'x' })).toMatchObject({ kind: 'invalid' });
  });

  test.each(['pages', 'stream'] as const)('a reflector that lists by %s follows the server', async (listing) => {
    const reflector = createReflector({
      client: api.client,
      resource: CONFIG_MAPS,
      namespace: api.namespace,
      labelSelector: `listing=${listing}`,
      slim: (raw: KubeObject) => at(raw, 'data.value'),
      clock: systemClock,
      random: seededJitter(),
      log,
      pageSize: 2,
      listing,
    });
    const name = (n: number): string => `${listing}-${n}`;
    for (let n = 0; n < 5; n += 1) await api.post(api.core('configmaps'), configMap(name(n), { listing }, `${n}`));
    await running(reflector, async () => {
      await reflector.synced;
      // The first list may be of the server's cache, a moment behind.
      await eventually(() => {
        expect([...reflector.values()]).toEqual(['0', '1', '2', '3', '4']);
        return Promise.resolve();
      });
      await api.patch(api.core(`configmaps/${name(1)}`), { data: { value: 'new' } }, 'merge');
      await api.remove(api.core(`configmaps/${name(4)}`));
      await eventually(() => {
        expect(reflector.get(`${api.namespace}/${name(1)}`)).toBe('new');
        expect(reflector.size).toBe(4);
        return Promise.resolve();
      });
    });
  });

  test('an eviction goes by UID, and tells what became of it', async () => {
    const { client, namespace } = api;
    const made = await api.post(api.core('pods'), pod('victim', { nodeName: 'node-x' }));
    await api.patch(api.core('pods/victim/status'), { status: { phase: 'Running' } }, 'merge');
    const uid = String(at(made.body, 'metadata.uid'));
    const eviction = { namespace, name: 'victim', uid };
    expect(await evictPod(client, { ...eviction, uid: uid.replace(/^./, 'x') })).toMatchObject({ kind: 'uidMismatch' });
    expect(await evictPod(client, { ...eviction, dryRun: true })).toEqual({ kind: 'evicted' });
    expect((await api.get(api.core('pods/victim'))).status).toBe(200);
    expect(await evictPod(client, { ...eviction, gracePeriodSeconds: 0 })).toMatchObject({ kind: 'invalid' });
    expect(await evictPod(client, { ...eviction, gracePeriodSeconds: 7 })).toEqual({ kind: 'evicted' });
    const { body } = await api.get(api.core('pods/victim'));
    expect(at(body, 'metadata.deletionGracePeriodSeconds')).toBe(7);
    await api.remove(api.core('pods/victim'), { gracePeriodSeconds: 0 });
    expect(await evictPod(client, eviction)).toMatchObject({ kind: 'notFound' });
  });

  test('events are written once, then counted as a series', async () => {
    const recorder = createEventRecorder({
      client: api.client,
      component: 'plimsoll.dev/agent',
      instance: 'node-x',
      clock: systemClock,
      log,
    });
    const regarding = { apiVersion: 'v1', kind: 'ConfigMap', namespace: api.namespace, name: 'told' };
    const event = { regarding, type: 'Warning', reason: 'Evicted', note: 'why', action: 'Evicting' } as const;
    for (let n = 0; n < 3; n += 1) recorder.record({ ...event, annotations: { starved_resource: 'memory' } });
    await recorder.flush();
    const { body } = await api.get(`/apis/events.k8s.io/v1/namespaces/${api.namespace}/events`);
    expect(at(body, 'items')).toMatchObject([
      {
        metadata: { annotations: { starved_resource: 'memory' } },
        reportingController: 'plimsoll.dev/agent',
        reportingInstance: 'node-x',
        type: 'Warning',
        reason: 'Evicted',
        note: 'why',
        regarding,
        series: { count: 3 },
      },
    ]);
  });

  test('a lease has one leader, which gives it back, and each term another token', async () => {
    const { namespace } = api;
    const terms: string[] = [];
    const asked = { a: 0, b: 0 };
    const stop = { a: new AbortController(), b: new AbortController() };
    const counted = (identity: 'a' | 'b'): KubeClient => ({
      ...api.client,
      request: (request) => {
        asked[identity] += 1;
        return api.client.request(request);
      },
    });
    const contend = (identity: 'a' | 'b'): Promise<void> =>
      runWithLease(
        {
          client: counted(identity),
          name: 'contract',
          namespace,
          identity,
          clock: systemClock,
          random: seededJitter(),
          log,
          retryMs: 100,
          isWatched: false,
          lead: async (signal: AbortSignal, term: LeaseTerm) => {
            terms.push(`${identity} ${term.fencingToken} ${String(term.isHeld())}`);
            await aborted(signal);
          },
        },
        stop[identity].signal,
      );
    const first = contend('a');
    await eventuallyCounts(terms, 1);
    const second = contend('b');
    await eventually(() => {
      expect(asked.b).toBeGreaterThan(3);
      return Promise.resolve();
    });
    expect(terms).toHaveLength(1);
    stop.a.abort();
    await first;
    await eventuallyCounts(terms, 2);
    stop.b.abort();
    await second;
    const lease = await getObject(api.client, { resource: LEASES, namespace, name: 'contract' });
    const uid = lease.kind === 'ok' ? lease.object.metadata.uid : '';
    expect(terms).toEqual([`a ${uid}/0 true`, `b ${uid}/1 true`]);
    expect(lease).toMatchObject({ object: { spec: { holderIdentity: '', leaseTransitions: 1 } } });
  });

  function eventuallyCounts(list: readonly unknown[], count: number): Promise<void> {
    return eventually(() => {
      expect(list).toHaveLength(count);
      return Promise.resolve();
    });
  }

  async function running(reflector: Reflector<unknown>, body: () => Promise<void>): Promise<void> {
    const stop = new AbortController();
    const run = reflector.run(stop.signal);
    await body();
    stop.abort();
    await run;
  }
}
