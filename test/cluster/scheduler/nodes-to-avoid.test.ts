import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { installShippedSet, startShipped } from '#test/cluster/support/shipped-set.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { at, pod } from '#test/contract/harness.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { untilScores } from './ask-extender.ts';
import { inHalfADay } from './pressures-by-hand.ts';
import { eventually } from '#test/build/waiting.ts';

const PODS = '/api/v1/namespaces/default/pods';
const PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';
const TYPE = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure' };
const PATIENCE_MS = 30_000;
const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(
  `nodes that are about to evict, and kube-scheduler with the extender${why ?? ''}`,
  () => {
    let port = 0;
    let made = 0;
    let extender: SchedulerProcess;
    const own = ownCluster(async () => {
      [port = 0] = await freePorts(1);
      const verbs = { filterVerb: 'filter', nodeCacheCapable: true };
      const entry = { urlPrefix: `http://127.0.0.1:${port}`, ...verbs };
      return { schedulerConfiguration: { extenders: [{ ...entry, ignorable: true, httpTimeout: '2s' }] } };
    });

    beforeAll(async () => {
      const { admin } = own();
      await installShippedSet(own());
      await makeFakeNodes(admin, 'node', 2);
      await eventually(async () => expect(await countReadyNodes(admin)).toBe(2), PATIENCE_MS);
      for (const name of ['node-0', 'node-1']) {
        await eventually(async () => {
          const outcome = await admin.request({
            method: 'POST',
            path: PRESSURES,
            body: { ...TYPE, metadata: { name } },
          });
          expect(outcome).toMatchObject({ kind: 'ok' });
        }, PATIENCE_MS);
      }
      extender = await startShipped(own(), 'control-plane-extender', [], { port });
    }, 120_000);
    afterAll(() => extender.stop());

    /** As the agent of the node writes it, and waits until the extender decides by it. */
    async function setPressure(node: string, state: string, expected: object): Promise<void> {
      const signal = {
        name: 'memory.available',
        available: '1Gi',
        capacity: '32Gi',
        state,
        since: new Date().toISOString(),
      };
      const status = {
        observedAt: new Date().toISOString(),
        mode: 'Enforce',
        signals: [signal],
        next: [],
        evictions: [],
      };
      const path = `${PRESSURES}/${node}`;
      const found = await own().admin.request({ path });
      const body = { ...(at(found, 'object') as object), status };
      const outcome = await own().admin.request({ method: 'PUT', path: `${path}/status`, body });
      expect(outcome).toMatchObject({ kind: 'ok' });
      await eventually(async () => expect(await scores()).toEqual(expected), PATIENCE_MS);
    }

    async function scores(): Promise<unknown> {
      const body = JSON.stringify({ Pod: { metadata: {} }, NodeNames: ['node-0', 'node-1'] });
      const answer = await fetch(`http://127.0.0.1:${port}/prioritize`, { method: 'POST', body });
      const list = (await answer.json()) as readonly { readonly Host: string; readonly Score: number }[];
      return Object.fromEntries(list.map(({ Host, Score }) => [Host, Score]));
    }

    /** The nodes that so many new pods come to; without the extender they would be spread. */
    async function place(count: number): Promise<readonly string[]> {
      const names = Array.from({ length: count }, () => `pod-${(made += 1)}`);
      const containers = [{ name: 'main', image: 'registry.test/idle:1', resources: { requests: { cpu: '500m' } } }];
      for (const name of names) {
        const body = pod(name, { schedulerName: 'default-scheduler', containers });
        expect(await own().admin.request({ method: 'POST', path: PODS, body })).toMatchObject({ kind: 'ok' });
      }
      return eventually(async () => {
        const seen = await Promise.all(names.map((name) => own().admin.request({ path: `${PODS}/${name}` })));
        const nodes = seen.map((each) => at(each, 'object.spec.nodeName'));
        expect(nodes).not.toContain(undefined);
        return nodes.map(String);
      }, PATIENCE_MS);
    }

    test('without pressure pods are spread', async () => {
      expect(new Set(await place(4))).toEqual(new Set(['node-0', 'node-1']));
    });

    /** Keeps the owner off the node, and waits until the extender does. */
    async function forbid(owner: string, node: string): Promise<void> {
      const ref = { kind: 'ReplicaSet', name: owner };
      const avoid = [{ owner: { namespace: 'default', ...ref }, until: inHalfADay(), cause: 'by hand', hard: true }];
      const contentType = 'application/merge-patch+json';
      const patch = { method: 'PATCH', path: `${PRESSURES}/${node}`, contentType, body: { spec: { avoid } } } as const;
      expect(await own().admin.request(patch)).toMatchObject({ kind: 'ok' });
      const owners = [{ apiVersion: 'apps/v1', ...ref, uid: 'u', controller: true }];
      await untilScores(port, { 'node-0': 0, 'node-1': 10 }, owners);
    }

    /** The nodes of the pods of a new ReplicaSet. */
    async function placeOwned(name: string, replicas: number): Promise<readonly string[]> {
      const labels = { app: name };
      const containers = [{ name: 'main', image: 'registry.test/idle:1', resources: { requests: { cpu: '500m' } } }];
      const spec = {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      };
      const path = '/apis/apps/v1/namespaces/default/replicasets';
      const made = await own().admin.request({ method: 'POST', path, body: { metadata: { name }, spec } });
      expect(made).toMatchObject({ kind: 'ok' });
      return eventually(async () => {
        const found = await own().admin.request({ path: PODS, query: { labelSelector: `app=${name}` } });
        const nodes = (at(found, 'object.items') as readonly unknown[]).map((each) => at(each, 'spec.nodeName'));
        expect([nodes.length, nodes.includes(undefined)]).toEqual([replicas, false]);
        return nodes.map(String);
      }, PATIENCE_MS);
    }

    test('a hard entry forbids the node to its owner while another one is left, and not where none is (S3-30)', async () => {
      await forbid('web', 'node-0');
      expect(new Set(await placeOwned('web', 3))).toEqual(new Set(['node-1']));
      expect(await extender.metrics()).toMatch(
        /plimsoll_extender_forbidden_nodes_total\{reason="OwnerAvoided"\} [1-9]/,
      );
      await forbid('db', 'node-0');
      await cordon('node-1', true);
      expect(await placeOwned('db', 1)).toEqual(['node-0']);
      await cordon('node-1', false);
    });

    async function cordon(node: string, unschedulable: boolean): Promise<void> {
      const contentType = 'application/merge-patch+json';
      const body = { spec: { unschedulable } };
      const patch = { method: 'PATCH', path: `/api/v1/nodes/${node}`, contentType, body } as const;
      expect(await own().admin.request(patch)).toMatchObject({ kind: 'ok' });
    }

    test('a soft threshold makes a node the last choice, although it has more room', async () => {
      await setPressure('node-0', 'Soft', { 'node-0': 0, 'node-1': 10 });
      expect(new Set(await place(4))).toEqual(new Set(['node-1']));
    });

    test('a hard threshold forbids it', async () => {
      await setPressure('node-0', 'Hard', { 'node-0': 0, 'node-1': 10 });
      expect(new Set(await place(2))).toEqual(new Set(['node-1']));
      expect(await extender.metrics()).toMatch(
        /plimsoll_extender_forbidden_nodes_total\{reason="AboutToEvict"\} [1-9]/,
      );
    });

    test('where all nodes are forbidden pods are placed all the same', async () => {
      await setPressure('node-1', 'Hard', { 'node-0': 0, 'node-1': 0 });
      expect(await place(2)).toHaveLength(2);
    });
  },
);
