import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPodReview, pod, type Raw, readAnswer, review } from './support/reviews.ts';
import { CLASSES, NAMESPACES, POLICIES, runWebhook, type RunningWebhook } from './support/webhook-process.ts';

const PERSON = { kind: 'User', name: 'alice' };
const ROBOT = { kind: 'ServiceAccount', name: 'robot', namespace: 'team-a' };
const AS_ROBOT = { username: 'system:serviceaccount:team-a:robot', groups: ['system:serviceaccounts'] };
const MANY = 300;

const CONTROLLERS = [
  ['apps', 'deployments', 'Deployment'],
  ['apps', 'statefulsets', 'StatefulSet'],
  ['apps', 'daemonsets', 'DaemonSet'],
  ['apps', 'replicasets', 'ReplicaSet'],
  ['batch', 'jobs', 'Job'],
] as const;

/** No policy of the API server is asked here: what is refused, the webhook refuses. */
describe('the webhook by itself', () => {
  let webhook: RunningWebhook;
  beforeAll(async () => {
    webhook = await runWebhook((api) => {
      for (const name of ['team-a', 'team-b', 'team-c'])
        api.put(NAMESPACES, { metadata: { name, labels: { 'kubernetes.io/metadata.name': name } } });
      for (const [name, value] of [
        ['gold', 1_000],
        ['silver', 100],
        ['plain', 10],
      ] as const)
        api.put(CLASSES, { metadata: { name }, value });
      const inNamespace = (name: string): object => ({ matchLabels: { 'kubernetes.io/metadata.name': name } });
      const policies = {
        list: { namespaceSelector: inNamespace('team-b'), allowedPriorityClassNames: ['silver', 'plain'] },
        person: { namespaceSelector: inNamespace('team-a'), subjects: [PERSON], maxPriority: 100 },
        account: { namespaceSelector: inNamespace('team-a'), subjects: [ROBOT], maxPriority: 10 },
      };
      for (const [name, spec] of Object.entries(policies)) api.put(POLICIES, { metadata: { name }, spec });
    });
  });
  afterAll(() => webhook.stop());

  async function create(namespace: string, spec: Raw, userInfo?: object) {
    const object = pod({ preemptionPolicy: 'PreemptLowerPriority', ...spec }, { namespace });
    const asked = { namespace, ...(userInfo !== undefined && { userInfo }) };
    return readAnswer((await webhook.post('/validate', createPodReview(object, asked))).body);
  }

  const gold = { priorityClassName: 'gold', priority: 1_000 };
  const silver = { priorityClassName: 'silver', priority: 100 };
  const plain = { priorityClassName: 'plain', priority: 10 };
  const refused = (message: string): object => ({
    allowed: false,
    code: 403,
    message: expect.stringContaining(message) as string,
  });

  test('a class outside the list of a policy is refused, hundreds of times, and those of the list are allowed (T-01, S2-8)', async () => {
    const answers = await Promise.all(Array.from({ length: MANY }, () => create('team-b', gold)));
    for (const answer of answers) expect(answer).toMatchObject(refused('policy `list` does not allow'));
    expect(await create('team-b', silver)).toMatchObject({ allowed: true });
    expect(await create('team-b', {})).toMatchObject(refused('does not allow pods without a priority class here'));
    expect(await create('team-c', gold)).toMatchObject({ allowed: true });
  });

  test('a rule for a person holds for that person alone (T-09)', async () => {
    expect(await create('team-a', gold)).toMatchObject(refused('policy `person` allows a priority of at most 100'));
    expect(await create('team-a', silver)).toMatchObject({ allowed: true });
    expect(await create('team-a', gold, { username: 'bob', groups: [] })).toMatchObject({ allowed: true });
  });

  test('a rule for a service account holds for everyone who uses it, and for pods that run as it (T-09)', async () => {
    const atMost10 = refused('policy `account` allows a priority of at most 10');
    expect(await create('team-a', silver, AS_ROBOT)).toMatchObject(atMost10);
    expect(await create('team-a', plain, AS_ROBOT)).toMatchObject({ allowed: true });
    expect(await create('team-a', { ...silver, serviceAccountName: 'robot' })).toMatchObject(atMost10);
  });

  test.each(CONTROLLERS)(
    'a template in %s/%s is judged by the rules for its author (T-01)',
    async (group, resource, kind) => {
      const template = (spec: Raw): Raw => ({
        apiVersion: `${group}/v1`,
        kind,
        metadata: { name: 'web', namespace: 'team-a' },
        spec: { template: pod(spec) },
      });
      const ask = async (spec: Raw): Promise<object> => {
        const asked = {
          operation: 'CREATE',
          resource: { group, version: 'v1', resource },
          name: 'web',
          namespace: 'team-a',
        };
        return readAnswer(
          (await webhook.post('/validate/templates', review({ ...asked, object: template(spec) }))).body,
        );
      };
      expect(await ask({ priorityClassName: 'gold' })).toMatchObject(refused('at most 100'));
      expect(await ask({ priorityClassName: 'silver' })).toMatchObject({ allowed: true });
    },
  );
});
