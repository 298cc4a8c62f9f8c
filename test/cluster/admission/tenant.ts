import { expect } from 'vitest';
import { at, eventually, type Harness, uniqueName } from '#test/contract/harness.ts';
import { asUser, type AsUser } from './as-user.ts';

/** A user with the role `edit` in the harness's namespace and no other right; call it in a `beforeAll`. */
export async function tenantOf(api: Harness): Promise<AsUser> {
  const user = uniqueName('tenant');
  const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${api.namespace}/rolebindings`;
  const { status, body } = await api.post(path, {
    metadata: { name: user },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  });
  expect([status, at(body, 'message')]).toEqual([201, undefined]);
  const tenant = asUser(api.target.connection, user);
  // A binding counts a moment after it was written.
  await eventually(async () => expect((await tenant('GET', api.core('pods'))).status).toBe(200));
  return tenant;
}
