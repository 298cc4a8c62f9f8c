import { beforeAll, describe, expect, test } from 'vitest';
import { WEBHOOK } from '#test/cluster/support/accounts.ts';
import { makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { installPlimsoll } from '#test/cluster/support/install.ts';
import { call } from '#test/cluster/node/kube-calls.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { eventually } from '#test/build/waiting.ts';

const PODS = `/api/v1/namespaces/${WEBHOOK.namespace}/pods`;
const DEPLOYMENT = `/apis/apps/v1/namespaces/${WEBHOOK.namespace}/deployments/${WEBHOOK.name}`;
const PATIENCE_MS = 50_000;
const READY = { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };

interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly nodeName?: string };
}

const why = whyNoOwnCluster(process.env);

/** Where kube-scheduler puts the replicas of deploy/base; no kubelet is there to run them. */
describe.skipIf(why !== undefined)(`the replicas of the webhook on nodes${why ?? ''}`, () => {
  const own = ownCluster();
  const merge = (path: string, body: object): Promise<unknown> =>
    call(own().admin, { method: 'PATCH', path, contentType: 'application/merge-patch+json', body });

  beforeAll(async () => {
    await makeFakeNodes(own().admin, 'node', 1);
    await installPlimsoll(own().cluster.kubeconfig);
  });

  async function pods(): Promise<readonly Pod[]> {
    const query = { labelSelector: 'app.kubernetes.io/component=webhook' };
    return ((await call(own().admin, { path: PODS, query })) as { readonly items: readonly Pod[] }).items;
  }

  /** What kubelets would do: ready what is placed, and end what is to go. */
  async function playKubelet(): Promise<void> {
    for (const { metadata, spec } of await pods()) {
      const path = `${PODS}/${metadata.name}`;
      const body = { gracePeriodSeconds: 0 };
      if (metadata.deletionTimestamp !== undefined) await own().admin.request({ method: 'DELETE', path, body });
      else if (spec.nodeName !== undefined)
        await merge(`${path}/status`, { status: { phase: 'Running', conditions: [READY] } }).catch(() => undefined);
    }
  }

  /** Rolls the Deployment out once more, and waits until it is done; tells the nodes of its pods. */
  async function rolledOut(revision: string): Promise<readonly (string | undefined)[]> {
    await merge(DEPLOYMENT, { spec: { template: { metadata: { annotations: { revision } } } } });
    return eventually(async () => {
      await playKubelet();
      const { status, metadata } = (await call(own().admin, { path: DEPLOYMENT })) as {
        readonly metadata: { readonly generation: number };
        readonly status: Readonly<Record<string, number>>;
      };
      expect(status).toMatchObject({
        observedGeneration: metadata.generation,
        replicas: 2,
        updatedReplicas: 2,
        availableReplicas: 2,
      });
      const present = await pods();
      expect(present).toHaveLength(2);
      return present.map(({ spec }) => spec.nodeName).toSorted();
    }, PATIENCE_MS);
  }

  test('run both on the only node there is', async () => {
    expect(await rolledOut('one node')).toEqual(['node-0', 'node-0']);
  });

  test('never run on the same of two nodes, even where everything else speaks for one of them', async () => {
    const admin = own().admin;
    await makeFakeNodes(admin, 'other', 1);
    const taints = [{ key: 'example.com/old', effect: 'PreferNoSchedule' }];
    await merge('/api/v1/nodes/other-0', { spec: { taints } });
    expect(await rolledOut('two nodes')).toEqual(['node-0', 'other-0']);
  });

  test('are spread over two nodes by every rollout, whatever the one before left', async () => {
    for (const revision of ['a', 'b', 'c']) expect(await rolledOut(revision)).toEqual(['node-0', 'other-0']);
  });

  test('run both on the one that is left while the other is drained', async () => {
    const admin = own().admin;
    await merge('/api/v1/nodes/other-0', { spec: { unschedulable: true } });
    for (const { metadata, spec } of await pods())
      if (spec.nodeName === 'other-0') await admin.request({ method: 'DELETE', path: `${PODS}/${metadata.name}` });
    await eventually(async () => {
      await playKubelet();
      const nodes = (await pods()).map(({ spec }) => spec.nodeName);
      expect(nodes).toEqual(['node-0', 'node-0']);
    }, PATIENCE_MS);
  });
});
