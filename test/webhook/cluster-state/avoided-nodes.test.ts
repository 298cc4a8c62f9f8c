import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { decideMutation } from '#shared/domain/admission/decide-mutation.ts';
import type { OwnerKey } from '#shared/domain/pod/pod.ts';
import { priorityPatch } from '#shared/kube/admission/pod-patches.ts';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import type { Reflector, ChangeListener } from '#shared/kube/reflector/reflector.ts';
import { type AvoidList, createAvoidLists, createAvoidLookup } from '#webhook/cluster-state/avoided-nodes.ts';
import { at } from '#test/contract/harness.ts';
import { buildRequest, buildWorld } from '#test/build/admission.ts';
import { apiDouble, type ApiDouble } from '#test/fakes/api-double.ts';
import { eventually } from '#test/build/waiting.ts';

const PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';
const NOW = Date.UTC(2026, 0, 1);
const WEB: OwnerKey = { namespace: 'team-a', kind: 'ReplicaSet', name: 'web', uid: 'u1' };

interface Entry {
  readonly minutes: number;
  readonly hard?: boolean;
  readonly uid?: string;
  readonly name?: string;
}

function pressure(node: string, ...entries: readonly Entry[]) {
  const avoid = entries.map(({ minutes, hard = false, uid, name = 'web' }) => ({
    owner: { namespace: 'team-a', kind: 'ReplicaSet', name, ...(uid !== undefined && { uid }) },
    until: new Date(NOW + minutes * 60_000).toISOString(),
    hard,
  }));
  return { metadata: { name: node }, spec: { avoid } };
}

describe('createAvoidLookup', () => {
  const stop = { now: new AbortController() };
  let server: ApiDouble;
  let client: KubeClient;

  beforeEach(async () => {
    stop.now = new AbortController();
    server = await apiDouble();
    client = createClient(directConnection({ server: server.url }), { userAgent: 'test' });
  });
  afterEach(async () => {
    stop.now.abort();
    client.close();
    await server.close();
  });

  async function start() {
    const log = createLog({ component: 'webhook', level: 'silent', format: 'json' });
    const lists = createAvoidLists({
      client,
      clock: systemClock,
      random: () => 0.5,
      log,
      metrics: createMetrics('webhook'),
    });
    const lookUp = createAvoidLookup(lists, { now: () => NOW });
    expect(lookUp(WEB)).toEqual([]);
    void lists.run(stop.now.signal);
    await lists.synced;
    return lookUp;
  }

  test('names the nodes with an entry that still lasts, of this owner, hard or not', async () => {
    server.put(PRESSURES, pressure('b', { minutes: 1 }));
    server.put(PRESSURES, pressure('a', { minutes: 1, name: 'api' }, { minutes: 1 }));
    server.put(PRESSURES, pressure('c', { minutes: 1, hard: true }));
    server.put(PRESSURES, pressure('d', { minutes: 0 }));
    server.put(PRESSURES, pressure('e', { minutes: 1, uid: 'u2' }));
    server.put(PRESSURES, pressure('f'));
    const lookUp = await start();
    expect(lookUp(WEB)).toEqual(['a', 'b', 'c']);
  });

  test('names first the nodes whose entries last longest', async () => {
    server.put(PRESSURES, pressure('a', { minutes: 1 }));
    server.put(PRESSURES, pressure('b', { minutes: 3 }));
    server.put(PRESSURES, pressure('c', { minutes: 1 }, { minutes: 2, uid: 'u1' }));
    expect((await start())(WEB)).toEqual(['b', 'c', 'a']);
  });

  test('a hard entry makes a preference in the pod and no requirement, which would outlast the entry', async () => {
    server.put(PRESSURES, pressure('a', { minutes: 1, hard: true }));
    server.put(PRESSURES, pressure('b'));
    const avoidedBy = await start();
    const request = buildRequest();
    const owner = { apiVersion: 'apps/v1', kind: WEB.kind, name: WEB.name, uid: 'u1', isController: true };
    const decision = decideMutation(
      { ...request, pod: { ...request.pod, owners: [owner] } },
      { ...buildWorld({}), avoidedBy },
    );
    const change = decision.kind === 'allowed' ? decision.change : undefined;
    const patch = change === undefined ? [] : priorityPatch({ spec: {} }, change);
    const affinity = patch.find(({ path }) => path === '/spec/affinity');
    expect(Object.keys(at(affinity, 'value.nodeAffinity') as object)).toEqual([
      'preferredDuringSchedulingIgnoredDuringExecution',
    ]);
  });

  test('follows entries that come and go', async () => {
    server.put(PRESSURES, pressure('a'));
    const lookUp = await start();
    expect(lookUp(WEB)).toEqual([]);
    /** The watch may begin only after a change, so the change is repeated. */
    const become = (nodes: readonly string[], change: () => void) =>
      eventually(() => {
        change();
        expect(lookUp(WEB)).toEqual(nodes);
        return Promise.resolve();
      });
    await become(['a'], () => server.put(PRESSURES, pressure('a', { minutes: 1 })));
    await become([], () => server.put(PRESSURES, pressure('a')));
    await become(['a'], () => server.put(PRESSURES, pressure('a', { minutes: 1 })));
    await become([], () => server.remove(PRESSURES, 'a'));
  });

  test('an entry that was removed counts no more, and a new status alone rebuilds nothing', () => {
    let lists: readonly AvoidList[] = [
      { node: 'a', entries: [{ owner: WEB, until: NOW + 1, cause: '', hard: false }] },
    ];
    let reads = 0;
    let tell: ChangeListener<AvoidList> = () => undefined;
    const reflector = {
      values: () => ((reads += 1), lists),
      onChange: (listener: ChangeListener<AvoidList>) => ((tell = listener), () => undefined),
    } as unknown as Reflector<AvoidList>;
    const lookUp = createAvoidLookup(reflector, { now: () => NOW });
    expect(lookUp(WEB)).toEqual(['a']);
    tell({ kind: 'modified', key: 'b', value: { node: 'b', entries: [] } });
    expect([lookUp(WEB), reads]).toEqual([['a'], 1]);
    lists = [{ node: 'a', entries: [] }];
    tell({ kind: 'modified', key: 'a', value: { node: 'a', entries: [] } });
    expect([lookUp(WEB), reads]).toEqual([[], 2]);
  });
});
