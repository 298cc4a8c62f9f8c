import { expect } from 'vitest';
import { serviceAccountUser } from '#shared/domain/priority/classes-and-policies.ts';
import { at, type Harness, uniqueName } from '#test/contract/harness.ts';
import { asUser, type AsUser } from './as-user.ts';
import { eventually } from '#test/build/waiting.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** A user with the role `edit` in the harness's namespace and no other right; call it in a `beforeAll`. */
export async function tenantOf(api: Harness): Promise<AsUser> {
  return editorOf(api, { kind: 'User', name: uniqueName('tenant') });
}

/** Gives a user or service account the role `edit` in the harness's namespace; call it in a `beforeAll`. */
export async function editorOf(api: Harness, subject: Subject): Promise<AsUser> {
  const path = `/apis/${RBAC}/v1/namespaces/${api.namespace}/rolebindings`;
  const { status, body } = await api.post(path, {
    metadata: { name: `edit-${subject.name}` },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'edit' },
    subjects: [{ ...subject, ...(subject.namespace === undefined && { apiGroup: RBAC }) }],
  });
  expect([status, at(body, 'message')]).toEqual([201, undefined]);
  const account = serviceAccountUser({ namespace: '', ...subject });
  const user = asUser(api.target.connection, subject.kind === 'User' ? subject.name : account);
  // A binding takes effect shortly after it is written.
  await eventually(async () => expect((await user('GET', api.core('pods'))).status).toBe(200));
  return user;
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  /** Of a service account. */
  readonly namespace?: string;
}
