import { describe, expect, test } from 'vitest';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { createVoidedNominations, type VoidedOptions } from '#scheduler/extender/nominations.ts';
import { buildNode, buildPod, type PodFields } from '#test/build/cluster.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';

const NO_NODE = { isNodeLeft: false, waits: new Map() };
const NODE_LEFT = { isNodeLeft: true, waits: new Map() };
const RUNNING = new AbortController().signal;
const preemptor = buildPod({ name: 'p', nominatedTo: 'n0', priority: 10, requests: { cpu: '2' } });

function ok(object: object): Outcome<unknown> {
  return { kind: 'ok', object, warnings: [] };
}

/** The pod as the API server has it. */
function stored(changes: { readonly uid?: string; readonly node?: string; readonly nominatedTo?: string } = {}) {
  const { uid = 'uid-p', node, nominatedTo = 'n0' } = changes;
  const metadata = { name: 'p', namespace: 'default', uid, resourceVersion: '7' };
  return { metadata, spec: { nodeName: node, containers: [] }, status: { nominatedNodeName: nominatedTo } };
}

/** On a node of two CPUs. */
function opened(others: readonly PodFields[] = [], found: object = stored(), written: Outcome<unknown> = ok(stored())) {
  const clock = manualClock();
  const warned: unknown[] = [];
  const { client, requests } = scriptedClient(({ method }) => (method === 'PATCH' ? written : ok(found)));
  const nodes = [buildNode({ name: 'n0', allocatable: { cpu: '2' } })];
  const snapshot = createSnapshot({ nodes, pods: others.map(buildPod) });
  const log = { info: () => undefined, warn: (facts: unknown) => void warned.push(facts) };
  const options = { client, clock, snapshot, log, metrics: createMetrics('test') } as unknown as VoidedOptions;
  const patches = () => requests.filter(({ method }) => method === 'PATCH').map(({ path, body }) => ({ path, body }));
  return { voided: createVoidedNominations(options), clock, patches, requests, warned };
}

const OCCUPANT = { name: 'occupant', node: 'n0', requests: { cpu: '1' } };

describe('a nomination whose pod may preempt on no node', () => {
  test('is cleared once, in the pod that was asked about and as it was read', async () => {
    const { voided, patches } = opened([OCCUPANT]);
    voided.note(preemptor, NO_NODE);
    await voided.clear(RUNNING);
    await voided.clear(RUNNING);
    expect(patches()).toEqual([
      {
        path: '/api/v1/namespaces/default/pods/p/status',
        body: { metadata: { uid: 'uid-p', resourceVersion: '7' }, status: { nominatedNodeName: null } },
      },
    ]);
  });

  test('stays where a later answer leaves a node', async () => {
    const { voided, requests } = opened([OCCUPANT]);
    voided.note(preemptor, NO_NODE);
    voided.note(preemptor, NODE_LEFT);
    await voided.clear(RUNNING);
    expect(requests).toEqual([]);
  });

  test.each<[string, object]>([
    ['the pod was created anew', stored({ uid: 'other' })],
    ['the pod has been placed', stored({ node: 'n0' })],
    ['the pod is nominated elsewhere by now', stored({ nominatedTo: 'n1' })],
  ])('stays where %s', async (_, found) => {
    const { voided, patches } = opened([OCCUPANT], found);
    voided.note(preemptor, NO_NODE);
    await voided.clear(RUNNING);
    expect(patches()).toEqual([]);
  });

  test('stays for a minute while pods that leave make room for the pod', async () => {
    const deletion = { at: manualClock().now() + 600_000, gracePeriodSeconds: 600 };
    const { voided, clock, patches } = opened([{ ...OCCUPANT, deletion }]);
    voided.note(preemptor, NO_NODE);
    await clock.advance(60_000);
    voided.note(preemptor, NO_NODE);
    await voided.clear(RUNNING);
    expect(patches()).toEqual([]);
    await clock.advance(1);
    await voided.clear(RUNNING);
    expect(patches()).toHaveLength(1);
  });

  test('is tried again later and later where the write is refused, and the log says so once', async () => {
    const { voided, clock, patches, warned } = opened([OCCUPANT], stored(), { kind: 'forbidden', message: 'no' });
    voided.note(preemptor, NO_NODE);
    const tries: number[] = [];
    for (let second = 0; second < 8; second += 1) {
      await voided.clear(RUNNING);
      tries.push(patches().length);
      await clock.advance(1_000);
    }
    expect(tries).toEqual([1, 2, 2, 3, 3, 3, 3, 4]);
    expect(warned).toEqual([{ object: 'default/p', fault: 'forbidden', message: 'no' }]);
  });

  test('is read anew after a conflict', async () => {
    const { voided, patches } = opened([OCCUPANT], stored(), { kind: 'conflict', message: 'changed' });
    voided.note(preemptor, NO_NODE);
    await voided.clear(RUNNING);
    await voided.clear(RUNNING);
    expect(patches()).toHaveLength(2);
  });

  test('of a pod without one is nothing to follow', async () => {
    const { voided, requests } = opened();
    voided.note(buildPod({ name: 'p' }), NO_NODE);
    await voided.clear(RUNNING);
    expect(requests).toEqual([]);
  });
});

/** As kube-scheduler asks about it: not nominated yet. */
const putOff = buildPod({ name: 'p', priority: 10, requests: { cpu: '2' } });
const NOMINATED = { name: 'p', nominatedTo: 'n0', priority: 10, requests: { cpu: '2' } };

/** The extender has put the pod off for ten seconds on n0, and kube-scheduler has nominated it there. */
function openedWait(others: readonly PodFields[] = [NOMINATED, OCCUPANT], found: object = stored()) {
  const opening = opened(others, found);
  const until = opening.clock.now() + 10_000;
  const isOver = async (ms: number): Promise<void> => {
    await opening.clock.advance(ms);
    await opening.voided.clear(RUNNING);
  };
  opening.voided.note(putOff, { isNodeLeft: true, waits: new Map([['n0', until]]) });
  return { ...opening, isOver };
}

describe('a nomination of a pod that was put off until terminating pods are gone', () => {
  test('is cleared right after the room should have come, however much is still terminating', async () => {
    const deletion = { at: manualClock().now() + 600_000, gracePeriodSeconds: 600 };
    const { patches, isOver } = openedWait([NOMINATED, { ...OCCUPANT, deletion }]);
    await isOver(9_999);
    expect(patches()).toEqual([]);
    await isOver(1);
    await isOver(1_000);
    expect(patches()).toHaveLength(1);
  });

  test.each<[string, readonly PodFields[]]>([
    ['the pod has been placed', [{ name: 'p', node: 'n0' }]],
    ['the pod is gone', []],
    ['the pod is nominated to a node on which it does not wait', [{ ...NOMINATED, nominatedTo: 'n1' }]],
  ])('is not looked at where %s', async (_, others) => {
    const { requests, isOver } = openedWait(others);
    await isOver(10_000);
    await isOver(120_000);
    expect(requests).toEqual([]);
  });

  test('stays where a later answer lets the pod preempt', async () => {
    const { voided, requests, isOver } = openedWait();
    voided.note(putOff, NODE_LEFT);
    await isOver(10_000);
    expect(requests).toEqual([]);
  });

  test('stays where a later answer puts the pod off for longer, until then', async () => {
    const { voided, clock, patches, isOver } = openedWait();
    voided.note(putOff, { isNodeLeft: true, waits: new Map([['n0', clock.now() + 20_000]]) });
    await isOver(19_999);
    expect(patches()).toEqual([]);
    await isOver(1);
    expect(patches()).toHaveLength(1);
  });
});
