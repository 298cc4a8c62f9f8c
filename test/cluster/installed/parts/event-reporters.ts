import { beforeAll, describe, expect, test } from 'vitest';
import { type AnswerOfUser, type AsUser, asUser } from '#test/cluster/admission/support/as-user.ts';
import {
  type InstalledCluster,
  OTHER_NODE,
  OWN_NODE,
  post,
} from '#test/cluster/installed/support/installed-cluster.ts';
import { at, uniqueName } from '#test/contract/harness.ts';
import { eventually } from '#test/build/waiting.ts';

const OURS = 'plimsoll.dev/agent';
const RBAC = 'rbac.authorization.k8s.io';
const IN_GROUP = '/apis/events.k8s.io/v1/namespaces/default/events';
const CORE = '/api/v1/namespaces/default/events';
const ACCOUNT = 'system:serviceaccount:plimsoll-node:plimsoll-agent';
const NODE_NAME = 'authentication.kubernetes.io/node-name';
type Way = (reporter: string, node: string) => readonly [path: string, event: object];
const SAID = { reason: 'EvictionThresholdMet', type: 'Warning' };

/** The ways to write that an Event about a Node, which the API server keeps in `default`, is from a reporter. */
const WAYS = {
  'events.k8s.io, reportingController': (reporter: string, name: string) => [
    IN_GROUP,
    { ...newStyle(), reportingController: reporter, note: 'x', regarding: nodeOf(name) },
  ],
  'core, reportingComponent': (reporter: string, name: string) => [
    CORE,
    { ...newStyle(), reportingComponent: reporter, message: 'x', involvedObject: nodeOf(name) },
  ],
  'core, source.component': (component: string, name: string) => [
    CORE,
    { ...SAID, source: { component }, message: 'x', involvedObject: nodeOf(name) },
  ],
} satisfies Record<string, Way>;

function newStyle(): object {
  return {
    ...SAID,
    action: 'Evict',
    reportingInstance: OWN_NODE,
    eventTime: new Date().toISOString().replace('Z', '000Z'),
  };
}

function writeEvent(way: Way, by: AsUser, reporter: string, node = OWN_NODE): Promise<AnswerOfUser> {
  const [path, fields] = way(reporter, node);
  return by('POST', path, { metadata: { name: uniqueName('event'), namespace: 'default' }, ...fields });
}

function nodeOf(name: string): object {
  return { apiVersion: 'v1', kind: 'Node', name, uid: name };
}

/** Registers tests on the ValidatingAdmissionPolicy that keeps the names of our reporters for our accounts (T-100). */
export function eventReporters({ own }: InstalledCluster): void {
  describe.each(Object.entries(WAYS))('an Event about a Node, by %s', (_, eventOf) => {
    let tenant: AsUser;
    let kubelet: AsUser;
    beforeAll(async () => {
      const { admin, connection } = own();
      const name = uniqueName('tenant');
      const subjects = [{ apiGroup: RBAC, kind: 'User', name }];
      const binding = { metadata: { name }, roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'edit' }, subjects };
      await post(admin, `/apis/${RBAC}/v1/namespaces/default/rolebindings`, binding);
      tenant = asUser(connection, name);
      kubelet = asUser(connection, `system:node:${OWN_NODE}`, { groups: ['system:nodes'] });
    });

    const write = (by: AsUser, reporter: string): Promise<AnswerOfUser> => writeEvent(eventOf, by, reporter);

    test('a tenant with the role edit writes in no name of ours, and in its own', async () => {
      // The binding and the policy count a moment after they were written.
      await eventually(async () => expect((await write(tenant, 'tenant.example/app')).status).toBe(201));
      await eventually(async () => expect((await write(tenant, OURS)).status).toBe(403));
      for (const reporter of [OURS, 'plimsoll.dev/webhook', 'plimsoll.dev/scheduler', 'plimsoll.dev/other']) {
        const { status, body } = await write(tenant, reporter);
        expect([reporter, status]).toEqual([reporter, 403]);
        expect(at(body, 'message')).toContain(`only the account of ${reporter} may write Events in its name`);
      }
    });

    test('a tenant turns no Event of its own into one of ours', async () => {
      const { body: made } = await write(tenant, 'tenant.example/app');
      const [path] = eventOf(OURS, OWN_NODE);
      const name = String(at(made, 'metadata.name'));
      const source = { source: { component: OURS }, deprecatedSource: { component: OURS } };
      const claims = { reportingController: OURS, reportingComponent: OURS, ...source };
      const { status, body } = await tenant('PATCH', `${path}/${name}`, claims);
      // The API server itself lets nobody change the reporter of an Event in events.k8s.io.
      expect([403, 422]).toContain(status);
      expect(at(body, 'message')).toMatch(/only the account of plimsoll.dev\/agent|field is immutable/);
    });

    test('a kubelet and a controller write as before', async () => {
      const controller = asUser(own().connection, 'system:serviceaccount:kube-system:node-controller');
      for (const [by, reporter] of [
        [kubelet, 'kubelet'],
        [controller, 'node-controller'],
        [kubelet, 'plimsoll.development/agent'],
      ] as const)
        expect([reporter, (await write(by, reporter)).status]).toEqual([reporter, 201]);
    });
  });

  test('an agent writes Events about its own node and no other', async () => {
    const inGroup = WAYS['events.k8s.io, reportingController'];
    const agent = asUser(own().connection, ACCOUNT, { extra: { [NODE_NAME]: OWN_NODE } });
    expect((await writeEvent(inGroup, agent, OURS)).status).toBe(201);
    const { status, body } = await writeEvent(inGroup, agent, OURS, OTHER_NODE);
    expect([status, at(body, 'message')]).toEqual([
      403,
      expect.stringContaining(`the agent on node ${OWN_NODE} may not write Events about node ${OTHER_NODE}`),
    ]);
  });
}
