import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PRESSURE_CONDITIONS, PRESSURE_TAINTS } from '#shared/kube/api-names.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { accountClient } from '#test/cluster/support/accounts.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { at } from '#test/contract/harness.ts';
import {
  type Change,
  FOREIGN_TAINT,
  FORBIDDEN_CHANGES,
  FUTURE_FIELD,
  NODE,
  NODE_STATUS,
  PRESSURE,
  statusConditions,
} from './node-controller-changes.ts';
import { eventually } from '#test/build/waiting.ts';

const OVERLAY = fileURLToPath(new URL('../../../deploy/overlays/node-controller', import.meta.url));
const DEFINITION = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodepressures.plimsoll.dev';
const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const NODES_POLICY = 'plimsoll-node-controller-nodes';
const PRESSURES_POLICY = 'plimsoll-controller-pressures';
const PATIENCE_MS = 30_000;
const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`the account of the node controller${why ?? ''}`, () => {
  const own = ownCluster();
  let account: KubeClient;

  beforeAll(async () => {
    const { admin, cluster } = own();
    await makeFakeNodes(admin, 'node', 1);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(1), PATIENCE_MS);
    const applied = await kubectl(cluster.kubeconfig, ['apply', '--server-side', '--validate=strict', '-k', OVERLAY]);
    expect([applied.status, applied.stderr]).toEqual([0, '']);
    account = await accountClient(own(), { namespace: 'plimsoll-system', name: 'plimsoll-controller' });
    await prepareObjects();
    for (const change of [FORBIDDEN_CHANGES.nodes['adds a label'], FORBIDDEN_CHANGES.pressures['adds a label']])
      await eventually(async () => expect(await dryRun(account, change)).toMatchObject({ kind: 'forbidden' }));
  }, 120_000);
  afterAll(() => account.close());

  async function prepareObjects(): Promise<void> {
    const { admin } = own();
    const object = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name: 'node-0' } };
    const path = '/apis/plimsoll.dev/v1alpha1/nodepressures';
    await eventually(async () =>
      expect(await admin.request({ method: 'POST', path, body: object })).toMatchObject({ kind: 'ok' }),
    );
    const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }];
    await written(admin, { path: NODE, body: { spec: { taints: [FOREIGN_TAINT] } } });
    await written(admin, { path: NODE_STATUS, body: { status: { addresses } } });
  }

  function patch(client: KubeClient, { path, body, type = 'merge' }: Change, query = {}): Promise<Outcome<unknown>> {
    const contentType = `application/${type}-patch+json`;
    return client.request({ method: 'PATCH', path, contentType, body, query });
  }
  const dryRun = (client: KubeClient, change: Change): Promise<Outcome<unknown>> =>
    patch(client, change, { dryRun: 'All' });

  async function written(client: KubeClient, change: Change): Promise<unknown> {
    const outcome = await patch(client, change);
    expect(outcome).toMatchObject({ kind: 'ok' });
    return at(outcome, 'object');
  }

  function denied(policy: string, text: string): object {
    const sentence = `ValidatingAdmissionPolicy '${policy}' with binding '${policy}' denied request: ${text}`;
    return { kind: 'forbidden', message: expect.stringContaining(sentence) as string };
  }

  /** Without the policy each of them is a valid write, so nothing else refuses it. */
  async function expectOnlyOthersMay(policy: string, change: Change & { readonly refusal: string }): Promise<void> {
    expect(await dryRun(account, change)).toMatchObject(denied(policy, change.refusal));
    expect(await dryRun(own().admin, change)).toMatchObject({ kind: 'ok' });
  }

  test.each(Object.entries(FORBIDDEN_CHANGES.nodes))('never %s in a node, which other users may', async (_, change) => {
    await expectOnlyOthersMay(NODES_POLICY, change);
  });

  test.each(Object.entries(FORBIDDEN_CHANGES.status))(
    'never %s in the status of a node, which other users may',
    async (_, change) => {
      await expectOnlyOthersMay(NODES_POLICY, change);
    },
  );

  test.each(Object.entries(FORBIDDEN_CHANGES.pressures))(
    'never %s in a NodePressure, which other users may',
    async (_, change) => {
      await expectOnlyOthersMay(PRESSURES_POLICY, change);
    },
  );

  test('adds and removes each of its own taints next to those of others', async () => {
    const ours = Object.values(PRESSURE_TAINTS).map((key) => ({ key, effect: 'NoSchedule' }));
    const all = [FOREIGN_TAINT, ...ours.map((taint) => ({ ...taint, timeAdded: '2026-01-01T00:00:00Z' }))];
    const tainted = await written(account, { path: NODE, body: { spec: { taints: all } } });
    expect(at(tainted, 'spec.taints')).toMatchObject([FOREIGN_TAINT, ...ours]);
    const freed = await written(account, { path: NODE, body: { spec: { taints: [FOREIGN_TAINT] } } });
    expect(at(freed, 'spec.taints')).toEqual([FOREIGN_TAINT]);
  });

  test('leaves a node without any taint when the last one is its own', async () => {
    const { admin } = own();
    const [key] = Object.values(PRESSURE_TAINTS);
    await written(admin, { path: NODE, body: { spec: { taints: null } } });
    await written(account, { path: NODE, body: { spec: { taints: [{ key, effect: 'NoSchedule' }] } } });
    const freed = await written(account, { path: NODE, body: { spec: { taints: [] } } });
    expect(at(freed, 'spec.taints')).toBeUndefined();
    await written(admin, { path: NODE, body: { spec: { taints: [FOREIGN_TAINT] } } });
  });

  test('adds, changes and removes each of its own conditions', async () => {
    const types = Object.values(PRESSURE_CONDITIONS);
    const typesAfter = async (conditions: readonly object[]): Promise<readonly unknown[]> => {
      const after = await written(account, statusConditions(...conditions));
      return (at(after, 'status.conditions') as readonly object[]).map((condition) => at(condition, 'type'));
    };
    const all = expect.arrayContaining(['Ready', ...types]) as unknown;
    expect(await typesAfter(types.map((type) => ({ type, status: 'True' })))).toEqual(all);
    expect(await typesAfter(types.map((type) => ({ type, status: 'False' })))).toEqual(all);
    expect(await typesAfter(types.map((type) => ({ $patch: 'delete', type })))).toEqual(['Ready']);
  });

  test('offers spare room and withdraws it, next to what the node has', async () => {
    const { capacity } = at(await own().admin.request({ path: NODE }), 'object.status') as {
      readonly capacity: object;
    };
    const room = { 'plimsoll.dev/spare-memory': '1073741824', 'plimsoll.dev/spare-cpu': '500' };
    const offered = { status: { capacity: room, allocatable: room } };
    const after = await written(account, { path: NODE_STATUS, body: offered });
    expect(at(after, 'status.capacity')).toEqual({ ...capacity, ...room, 'plimsoll.dev/spare-memory': '1073741824' });
    const none = Object.fromEntries(Object.keys(room).map((name) => [name, null]));
    const without = await written(account, {
      path: NODE_STATUS,
      body: { status: { capacity: none, allocatable: none } },
    });
    expect(at(without, 'status.capacity')).toEqual(capacity);
  });

  test('writes and empties the avoid list of a NodePressure', async () => {
    const owner = { namespace: 'default', kind: 'ReplicaSet', name: 'web' };
    const avoid = [{ owner, until: '2026-01-01T00:00:00Z' }];
    expect(at(await written(account, { path: PRESSURE, body: { spec: { avoid } } }), 'spec.avoid')).toEqual(avoid);
    await written(account, { path: PRESSURE, body: { spec: { avoid: [] } } });
  });

  test('never writes the status of a NodePressure: RBAC does not let it', async () => {
    const body = { status: { observedAt: '2026-01-01T00:00:00Z' } };
    expect(await dryRun(account, { path: `${PRESSURE}/status`, body })).toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining('cannot patch resource "nodepressures/status"') as string,
    });
    const { object } = (await dryRun(account, { path: PRESSURE, body })) as { readonly object?: unknown };
    expect(at(object, 'kind')).toBe('NodePressure');
    expect(at(object, 'status')).toBeUndefined();
  });

  test('never writes a field that the spec of a NodePressure has one day besides the avoid list', async () => {
    await written(own().admin, { path: DEFINITION, type: 'json', body: FUTURE_FIELD.definition });
    const refused = denied(PRESSURES_POLICY, FUTURE_FIELD.refusal);
    await eventually(async () => expect(await dryRun(account, FUTURE_FIELD)).toMatchObject(refused), PATIENCE_MS);
    expect(await dryRun(own().admin, FUTURE_FIELD)).toMatchObject({ kind: 'ok' });
  });

  test.each([NODES_POLICY, PRESSURES_POLICY])('%s has no expression of a wrong type', async (name) => {
    const checked = await eventually(async () => {
      const found = await own().admin.request({ path: `${POLICIES}/${name}` });
      expect(at(found, 'object.status.observedGeneration')).toBe(at(found, 'object.metadata.generation'));
      return at(found, 'object.status.typeChecking');
    }, PATIENCE_MS);
    expect(checked ?? {}).toEqual({});
  });
});
