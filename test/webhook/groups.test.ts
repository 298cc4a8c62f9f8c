import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readAnswer, review } from './support/reviews.ts';
import { NAMESPACES, PRIORITY_QUOTAS, runWebhook, type RunningWebhook } from './support/webhook-process.ts';

const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';
const POLICIES = '/apis/plimsoll.dev/v1alpha1/prioritypolicies';
const ALICE = [{ kind: 'User', name: 'alice' }];

describe('groups of pods that a cluster may serve', () => {
  let webhook: RunningWebhook;
  beforeAll(async () => {
    webhook = await runWebhook((api) => {
      api.put(NAMESPACES, { metadata: { name: 'team-a' } });
      const labels = { 'plimsoll.dev/priority-quota': 'enforced' };
      api.put(NAMESPACES, { metadata: { name: 'counted', labels } });
      const quota = (name: string, scope: object): void =>
        api.put(PRIORITY_QUOTAS, {
          metadata: { name, uid: name, generation: 1 },
          spec: { ...scope, hard: { pods: '0' } },
        });
      quota('none-of-gold', { priorityClassNames: ['gold'] });
      quota('none-above', { priority: { min: 2_000 } });
      api.put(CLASSES, { metadata: { name: 'gold' }, value: 1_000 });
      api.put(CLASSES, { metadata: { name: 'plain' }, value: 10 });
      api.put(POLICIES, { metadata: { name: 'person' }, spec: { subjects: ALICE, maxPriority: 100 } });
    });
  });
  afterAll(() => webhook.stop());

  async function create(resource: string, spec: object, username = 'alice') {
    const { body } = await webhook.post(
      '/validate/templates',
      review({
        operation: 'CREATE',
        resource: { group: 'scheduling.k8s.io', version: 'v1alpha2', resource },
        subResource: '',
        name: 'web',
        namespace: 'team-a',
        userInfo: { username, groups: [] },
        object: { apiVersion: 'scheduling.k8s.io/v1alpha2', kind: 'Group', metadata: { name: 'web' }, spec },
      }),
    );
    return readAnswer(body);
  }

  async function createUnderQuotas(spec: object, more: object = {}, resource = 'podgroups') {
    const { body } = await webhook.post(
      '/validate/quota',
      review({
        operation: 'CREATE',
        resource: { group: 'scheduling.k8s.io', version: 'v1alpha2', resource },
        subResource: '',
        name: 'web',
        namespace: 'counted',
        userInfo: { username: 'alice', groups: [] },
        object: { apiVersion: 'scheduling.k8s.io/v1alpha2', kind: 'PodGroup', metadata: { name: 'web' }, spec },
        ...more,
      }),
    );
    return readAnswer(body);
  }

  test.each([
    [{ priorityClassName: 'gold' }, 'quota `none-of-gold` counts priority class `gold` here'],
    [{ priorityClassName: 'gold', priority: 1_000 }, 'quota `none-of-gold` counts priority class `gold` here'],
    [{ priorityClassName: 'unseen', priority: 5_000 }, 'quota `none-above` counts priority class `unseen` here'],
    [{ priorityClassName: 7 }, 'priorityClassName'],
  ])(
    'a PodGroup of %j would give pods what no quota charges: refused where quotas are enforced',
    async (spec, text) => {
      for (const resource of ['podgroups', 'compositepodgroups']) {
        const answer = await createUnderQuotas(spec, {}, resource);
        expect(answer).toMatchObject({ allowed: false, message: expect.stringContaining(text) as string });
      }
    },
  );

  test('a PodGroup whose class no quota counts is allowed', async () => {
    for (const spec of [{}, { priorityClassName: 'plain' }, { priorityClassName: 'plain', priority: 10 }])
      expect(await createUnderQuotas(spec)).toMatchObject({ allowed: true });
  });

  const group = (priorityClassName: string): object => ({ priorityClassName });
  const workload = (...names: readonly string[]): object => ({ podGroupTemplates: names.map(group) });
  const REFUSED = { allowed: false, code: 403, message: expect.stringContaining('at most 100 here') as string };

  test.each([
    ['podgroups', group('gold')],
    ['compositepodgroups', group('gold')],
    ['workloads', workload('plain', 'gold')],
    ['workloads', { compositePodGroupTemplates: [group('gold')] }],
    ['workloads', { compositePodGroupTemplates: [{ compositePodGroupTemplates: [workload('gold')] }] }],
  ])('%s of a class that a policy forbids are refused', async (resource, spec) => {
    expect(await create(resource, spec)).toMatchObject(REFUSED);
    expect(await create(resource, spec, 'bob')).toMatchObject({ allowed: true });
  });

  test.each([
    ['podgroups', group('plain')],
    ['podgroups', {}],
    ['workloads', workload('plain', 'plain')],
    ['workloads', {}],
  ])('%s of %j are allowed', async (resource, spec) => {
    expect(await create(resource, spec)).toMatchObject({ allowed: true });
  });

  test('a class that is no text is refused with its field', async () => {
    expect(await create('workloads', { podGroupTemplates: [{ priorityClassName: 7 }] })).toMatchObject({
      allowed: false,
      message: expect.stringContaining('priorityClassName') as string,
    });
  });
});
