import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { at, textAt } from '#test/contract/harness.ts';
import { policyStage } from './policy-stage.ts';

const POLICIES = fileURLToPath(new URL('../../deploy/components/queues/leader-policy.yaml', import.meta.url));
/** The other policies of the file compare optional values, which the sandbox does not. */
const OF_QUEUES = ['plimsoll-queues-children', 'plimsoll-queues-templates'];
const QUEUES = '/apis/plimsoll.dev/v1alpha1/queues';
const LEADER = 'system:serviceaccount:plimsoll-system:plimsoll-controller';
const TEMPLATE = { weight: 5, guaranteed: { cpu: '3' }, max: { cpu: '4' }, preemption: { delay: '7s' } };

describe('what the account of the leader may change in queues from a template', () => {
  const { user, create, enforce } = policyStage();

  beforeAll(async () => {
    const labels = { 'app.kubernetes.io/managed-by': 'plimsoll-queues' };
    const spec = { weight: 1, guaranteed: { cpu: '2' }, max: { cpu: '2', memory: '1Gi' }, ordering: 'Strict' };
    const child = { parent: 'teams', ...spec, preemption: { delay: '5s' } };
    await create(QUEUES, queue('teams', { guaranteed: { cpu: '4' }, childTemplate: TEMPLATE }));
    await create(QUEUES, queue('teams.a', child, { labels }));
    await create(QUEUES, queue('teams.b', child));
    for (const document of parseAllDocuments(readFileSync(POLICIES, 'utf8'))) {
      const policy = document.toJS() as object;
      if (OF_QUEUES.includes(textAt(policy, 'metadata.name'))) await enforce(policy);
    }
  }, 60_000);

  function queue(name: string, spec: object, metadata: object = {}): object {
    return { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'Queue', metadata: { name, ...metadata }, spec };
  }

  async function change(name: string, body: object): Promise<readonly unknown[]> {
    const answer = await user(LEADER)('PATCH', `${QUEUES}/${name}?dryRun=All`, body);
    return [answer.status, at(answer.body, 'message')];
  }

  test.each<[string, object]>([
    [
      'all fields as the template says',
      {
        weight: 5,
        max: { cpu: '4', memory: null },
        guaranteed: { cpu: '3' },
        ordering: null,
        preemption: { delay: '7s' },
      },
    ],
    ['one field', { preemption: { delay: '7s' } }],
    ['a field that the template does not have', { max: { memory: null } }],
    ['nothing but the annotation', {}],
  ])('%s', async (_, spec) => {
    const annotations = { 'plimsoll.dev/from-template': '{}' };
    expect(await change('teams.a', { metadata: { annotations }, spec })).toEqual([200, undefined]);
  });

  const TEMPLATE_ONLY = 'only as the template of its parent says';
  test.each<[string, object, string]>([
    ['teams.a', { spec: { weight: 10_000 } }, TEMPLATE_ONLY],
    ['teams.a', { spec: { weight: 5, ordering: 'BestEffort' } }, TEMPLATE_ONLY],
    ['teams.a', { spec: { guaranteed: { cpu: '1' } } }, TEMPLATE_ONLY],
    ['teams.a', { spec: { guaranteed: { memory: '1Gi' } } }, TEMPLATE_ONLY],
    ['teams.a', { spec: { max: null } }, TEMPLATE_ONLY],
    ['teams.a', { spec: { preemption: { policy: 'Disabled' } } }, TEMPLATE_ONLY],
    ['teams.a', { spec: { preemption: { delay: '1s' } } }, TEMPLATE_ONLY],
    ['teams.a', { spec: { parent: 'other' } }, 'only what its template says'],
    ['teams.a', { spec: { namespaceSelector: {} } }, 'only what its template says'],
    ['teams.a', { metadata: { labels: { more: 'x' } } }, 'may not change the metadata'],
    ['teams.a', { metadata: { annotations: { more: 'x' } } }, 'only the annotation plimsoll.dev/from-template'],
    ['teams.b', { spec: { weight: 5 } }, 'only queues with the label'],
    ['teams', { spec: { weight: 2 } }, 'only queues with the label'],
  ])('not of %s: %o', async (name, body, text) => {
    expect(await change(name, body)).toEqual([403, expect.stringContaining(text)]);
  });

  function child(spec: object): object {
    const owner = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'Queue', name: 'teams', uid: 'of-teams' };
    const labels = { 'app.kubernetes.io/managed-by': 'plimsoll-queues' };
    return queue('teams.new', { parent: 'teams', ...spec }, { labels, ownerReferences: [owner] });
  }

  async function make(spec: object): Promise<readonly unknown[]> {
    const answer = await user(LEADER)('POST', `${QUEUES}?dryRun=All`, child(spec));
    return [answer.status, at(answer.body, 'message')];
  }

  test.each<[string, object]>([
    ['as the template says', TEMPLATE],
    ['without its guarantee', { ...TEMPLATE, guaranteed: undefined }],
    ['with quantities in another type', { ...TEMPLATE, max: { cpu: 4 } }],
  ])('a new queue %s', async (_, spec) => {
    expect(await make(spec)).toEqual([201, undefined]);
  });

  const NO_FIELD = 'no queue with namespaceSelector, capacity, childTemplate or another field';
  test.each<[object, string]>([
    [{ weight: 6 }, TEMPLATE_ONLY],
    [{ ordering: 'Strict' }, TEMPLATE_ONLY],
    [{ guaranteed: { cpu: '2' } }, TEMPLATE_ONLY],
    [{ guaranteed: { cpu: '3', memory: '0' } }, TEMPLATE_ONLY],
    [{ max: undefined }, TEMPLATE_ONLY],
    [{ max: { cpu: '5' } }, TEMPLATE_ONLY],
    [{ max: { cpu: '4', memory: '1Gi' } }, TEMPLATE_ONLY],
    [{ preemption: { delay: '7s', preferNear: true } }, TEMPLATE_ONLY],
    [{ preemption: undefined }, TEMPLATE_ONLY],
    [{ namespaceSelector: {} }, NO_FIELD],
    [{ childTemplate: TEMPLATE }, NO_FIELD],
  ])('no new queue with %o', async (spec, text) => {
    expect(await make({ ...TEMPLATE, ...spec })).toEqual([403, expect.stringContaining(text)]);
  });

  test('other users are not bound by it', async () => {
    expect((await user()('PATCH', `${QUEUES}/teams.a?dryRun=All`, { spec: { weight: 9 } })).status).toBe(200);
  });
});
