import { beforeAll, describe, expect, test } from 'vitest';
import { LABEL_IGNORE, LABEL_PRIORITY_QUOTA, PRIORITY_QUOTA_ENFORCED } from '#shared/kube/api-names.ts';
import { asUser, type AnswerOfUser, type AsUser } from '#test/cluster/admission/support/as-user.ts';
import { at, uniqueName } from '#test/contract/harness.ts';
import { type InstalledCluster, post } from '#test/cluster/installed/support/installed-cluster.ts';
import { eventually } from '#test/build/waiting.ts';

const ROLES = '/apis/rbac.authorization.k8s.io/v1';
const NAMESPACES = '/api/v1/namespaces';
const IGNORED = { [LABEL_IGNORE]: 'true' };
const ENFORCED = { [LABEL_PRIORITY_QUOTA]: PRIORITY_QUOTA_ENFORCED };
const PORTAL = 'portal';
const TRUSTED = 'trusted';

/** Registers tests on who may take a namespace out of Plimsoll's rules. */
export function namespaceLabels({ own }: InstalledCluster): void {
  describe('a person who may change namespaces', () => {
    const name = uniqueName('team');
    const path = `${NAMESPACES}/${name}`;
    let portal: AsUser;
    let trusted: AsUser;

    beforeAll(async () => {
      const { admin, connection } = own();
      [portal, trusted] = [asUser(connection, PORTAL), asUser(connection, TRUSTED)];
      const resources = ['namespaces', 'namespaces/status', 'namespaces/finalize'];
      const rules = [{ apiGroups: [''], resources, verbs: ['*'] }];
      await post(admin, `${ROLES}/clusterroles`, { metadata: { name: 'namespace-maker' }, rules });
      for (const [user, role] of [
        [PORTAL, 'namespace-maker'],
        [TRUSTED, 'namespace-maker'],
        [TRUSTED, 'plimsoll-namespace-opt-out'],
      ] as const) {
        await post(admin, `${ROLES}/clusterrolebindings`, {
          metadata: { name: uniqueName(user) },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
        });
      }
      await eventually(async () => expect((await create(portal, name, { team: 'a' })).status).toBe(201));
      // A new policy counts a moment after it was written.
      await eventually(async () => expectRefused(await create(portal, uniqueName('probe'), IGNORED)));
    });

    function create(as: AsUser, named: string, labels: object): Promise<AnswerOfUser> {
      return as('POST', NAMESPACES, { metadata: { name: named, labels } });
    }

    function label(as: AsUser, labels: object, subresource = ''): Promise<AnswerOfUser> {
      return as('PATCH', `${path}${subresource}`, { metadata: { labels } });
    }

    async function replaceVia(as: AsUser, subresource: string, labels: object): Promise<AnswerOfUser> {
      const { body } = await as('GET', path);
      const metadata = { ...(at(body, 'metadata') as object), labels };
      return as('PUT', `${path}${subresource}`, { ...(body as object), metadata });
    }

    test('does not have it ignored: created so, labelled, or by way of a subresource', async () => {
      expectRefused(await create(portal, uniqueName('ignored'), IGNORED));
      expectRefused(await label(portal, IGNORED));
      expectRefused(await label(portal, IGNORED, '/status'));
      for (const subresource of ['', '/status', '/finalize'])
        expectRefused(await replaceVia(portal, subresource, IGNORED));
      expect((await portal('GET', path)).body).not.toMatchObject({ metadata: { labels: IGNORED } });
    });

    test('brings it under quotas, and does not take it out again', async () => {
      expect((await label(portal, ENFORCED)).status).toBe(200);
      for (const value of [null, '', 'Enforced']) expectRefused(await label(portal, { [LABEL_PRIORITY_QUOTA]: value }));
      expectRefused(await replaceVia(portal, '', { team: 'a' }));
      expectRefused(await replaceVia(portal, '/finalize', { team: 'a' }));
    });

    test('changes and removes everything else', async () => {
      expect((await label(portal, { team: 'b', [LABEL_IGNORE]: 'false' })).status).toBe(200);
      expect((await portal('DELETE', path)).status).toBe(200);
    });

    test('may do it all with the role for it, and what is ignored already stays so', async () => {
      const other = uniqueName('other');
      expect((await create(trusted, other, { ...IGNORED, ...ENFORCED })).status).toBe(201);
      const labels = { [LABEL_PRIORITY_QUOTA]: null };
      expect((await trusted('PATCH', `${NAMESPACES}/${other}`, { metadata: { labels } })).status).toBe(200);
      expect((await portal('PATCH', `${NAMESPACES}/${other}`, { metadata: { labels: { team: 'a' } } })).status).toBe(
        200,
      );
    });
  });
}

function expectRefused({ status, body }: AnswerOfUser): void {
  expect([status, at(body, 'message')]).toEqual([
    403,
    expect.stringMatching(
      /label plimsoll\.dev\/\S+ (?:to true|away) needs the verb opt-out on namespaces\.plimsoll\.dev/,
    ),
  ]);
}
