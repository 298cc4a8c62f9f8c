import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { accountClient } from '#test/cluster/support/accounts.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { at, pod } from '#test/contract/harness.ts';
import { eventually } from '#test/build/waiting.ts';
import { FORBIDDEN_CHANGES, PRESSURE } from '#test/cluster/scheduler/node-controller-changes.ts';

const OWNER = { namespace: 'default', kind: 'ReplicaSet', name: 'web' };
const TIME = '2026-01-01T00:00:00Z';
const LOOPS = { preemptionLoops: [{ preemptor: OWNER, victim: OWNER, rounds: [TIME], until: TIME, action: 'Refuse' }] };
/** A busy API server enforces a new policy after more than twenty seconds. */
const PATIENCE_MS = 90_000;
const DRY_RUN = { dryRun: 'All' };
const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined).each([
  ['second-scheduler', { namespace: 'plimsoll-system', name: 'plimsoll-kube-scheduler' }],
  ['control-plane-extender', { namespace: 'plimsoll-node', name: 'plimsoll-control-plane-extender' }],
])(`the account of the extender in deploy/overlays/%s${why ?? ''}`, (overlay, name) => {
  const own = ownCluster();
  let account: KubeClient;

  beforeAll(async () => {
    const { admin, cluster } = own();
    const folder = fileURLToPath(new URL(`../../../../deploy/overlays/${overlay}`, import.meta.url));
    const applied = await kubectl(cluster.kubeconfig, ['apply', '--server-side', '--validate=strict', '-k', folder]);
    expect([applied.status, applied.stderr]).toEqual([0, '']);
    account = await accountClient(own(), name);
    const body = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name: 'node-0' } };
    const path = '/apis/plimsoll.dev/v1alpha1/nodepressures';
    await eventually(async () =>
      expect(await admin.request({ method: 'POST', path, body })).toMatchObject({ kind: 'ok' }),
    );
    // A dry run: a label that is there already would not be a change any more.
    await eventually(
      async () => expect(await patch(account, LABEL, PRESSURE, DRY_RUN)).toMatchObject({ kind: 'forbidden' }),
      PATIENCE_MS,
    );
  }, 180_000);
  afterAll(() => account.close());

  const patch = (client: KubeClient, body: object, path = PRESSURE, query = {}) =>
    client.request({ method: 'PATCH', path, query, body, contentType: 'application/merge-patch+json' });
  const LABEL = FORBIDDEN_CHANGES.pressures['adds a label'].body;

  test.each(Object.entries(FORBIDDEN_CHANGES.pressures))('never %s in a NodePressure', async (_, { body }) => {
    const message = 'the extender may not change the metadata of a NodePressure';
    expect(await patch(account, body)).toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining(message) as string,
    });
  });

  test('never changes an avoid list', async () => {
    const message = 'the extender may change only the loops of preemptions in the spec of a NodePressure';
    expect(await patch(account, { spec: { avoid: [{ owner: OWNER, until: TIME }] } })).toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining(message) as string,
    });
  });

  test('writes and empties the loops of preemptions, and never the status', async () => {
    expect(await patch(account, { spec: LOOPS })).toMatchObject({ kind: 'ok', object: { spec: LOOPS } });
    expect(await patch(account, { spec: { preemptionLoops: [] } })).toMatchObject({ kind: 'ok' });
    expect(await patch(account, { status: { observedAt: TIME } }, `${PRESSURE}/status`)).toMatchObject({
      kind: 'forbidden',
    });
  });

  // The account of a second scheduler is kube-scheduler's own, which writes more of the status.
  if (overlay === 'control-plane-extender')
    test('clears the nomination of a pod, and writes nothing else there', async () => {
      const { admin } = own();
      const pods = '/api/v1/namespaces/default/pods';
      const status = `${pods}/nominated/status`;
      const body = pod('nominated', { schedulerName: 'none' });
      expect(await admin.request({ method: 'POST', path: pods, body })).toMatchObject({ kind: 'ok' });
      const nominated = { status: { nominatedNodeName: 'node-0' } };
      expect(await patch(admin, nominated, status)).toMatchObject({ kind: 'ok' });
      const refusals: readonly (readonly [object, string])[] = [
        [{ status: { nominatedNodeName: 'node-1' } }, 'may only clear the nomination in the status of a pod'],
        [
          { status: { nominatedNodeName: null, phase: 'Failed' } },
          'may only clear the nomination in the status of a pod',
        ],
        [
          { metadata: { labels: { a: 'b' } }, status: { nominatedNodeName: null } },
          'may not change the metadata of a pod',
        ],
      ];
      for (const [change, message] of refusals)
        await eventually(async () => {
          expect(await patch(account, change, status)).toMatchObject({
            kind: 'forbidden',
            message: expect.stringContaining(message) as string,
          });
        }, PATIENCE_MS);
      expect(await patch(admin, nominated, status)).toMatchObject({ kind: 'ok' });
      const cleared = await patch(account, { status: { nominatedNodeName: null } }, status);
      expect(cleared).toMatchObject({ kind: 'ok' });
      expect(at(cleared, 'object.status.nominatedNodeName')).toBeUndefined();
    }, 180_000);
});
