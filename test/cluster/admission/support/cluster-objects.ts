import { afterAll, expect } from 'vitest';
import { at, type Harness, pod, uniqueName } from '#test/contract/harness.ts';
import { asUser } from './as-user.ts';
import { eventually } from '#test/build/waiting.ts';

export const PRIORITY_CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';
export const POLICIES = '/apis/plimsoll.dev/v1alpha1/prioritypolicies';
export const RULES = '/apis/plimsoll.dev/v1alpha1/priorityrules';
export const PRIORITY_QUOTAS = '/apis/plimsoll.dev/v1alpha1/priorityquotas';

const RBAC = 'rbac.authorization.k8s.io';
const ROLE_BINDINGS = `/apis/${RBAC}/v1/clusterrolebindings`;

/** Makes objects that belong to no namespace, each with a name of its own. */
export interface ClusterObjects {
  /** Returns the name. */
  priorityClass(name: string, value: number, more?: object, metadata?: object): Promise<string>;
  policy(name: string, spec: object): Promise<string>;
  priorityQuota(name: string, spec: object): Promise<string>;
  /** Lets the webhook be asked about these namespaces whatever else is configured: a quota that counts no pod. */
  askedAlways(namespaceSelector: object): Promise<string>;
  /** Gives a user all rights. */
  administrator(user: string): Promise<string>;
}

/** Registers a hook of the present `describe` that removes them. */
export function clusterObjects(api: Harness): ClusterObjects {
  const made: string[] = [];
  afterAll(async () => {
    for (const path of made.toReversed()) await api.remove(path);
  });

  async function make(collection: string, prefix: string, object: object, metadata: object = {}): Promise<string> {
    const name = uniqueName(prefix);
    const { status, body } = await api.post(collection, { ...object, metadata: { ...metadata, name } });
    expect([status, at(body, 'message')]).toEqual([201, undefined]);
    made.push(`${collection}/${name}`);
    return name;
  }

  /** The API server admits pods from a cache of the classes, which learns of a new one shortly after it is created. */
  async function priorityClass(prefix: string, value: number, more?: object, metadata?: object): Promise<string> {
    const name = await make(PRIORITY_CLASSES, prefix, { ...more, value }, metadata);
    await eventually(async () => {
      const answer = await api.post(
        `${api.core('pods')}?dryRun=All`,
        pod(uniqueName('probe'), { priorityClassName: name }),
      );
      expect(String(at(answer.body, 'message'))).not.toContain('no PriorityClass with name');
    });
    return name;
  }

  /** A binding takes effect shortly after it is written. */
  async function administrator(user: string): Promise<string> {
    const name = await make(ROLE_BINDINGS, 'administrator', {
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: RBAC, kind: 'User', name: user }],
    });
    const send = asUser(api.target.connection, user);
    await eventually(async () => expect((await send('GET', '/api/v1/nodes?limit=1')).status).toBe(200));
    return name;
  }

  const priorityQuota = (name: string, spec: object): Promise<string> =>
    make(PRIORITY_QUOTAS, name, ours('PriorityQuota', spec));
  return {
    priorityClass,
    policy: (name, spec) => make(POLICIES, name, ours('PriorityPolicy', spec)),
    priorityQuota,
    askedAlways: (namespaceSelector) =>
      priorityQuota('asked', { namespaceSelector, priorityClassNames: ['no-such-class'], hard: { pods: '1' } }),
    administrator,
  };
}

function ours(kind: string, spec: object): object {
  return { apiVersion: 'plimsoll.dev/v1alpha1', kind, spec };
}

/** Selects the harness's own namespace and no other. */
export function onlyIn(api: Harness): object {
  return { matchLabels: { 'kubernetes.io/metadata.name': api.namespace } };
}
