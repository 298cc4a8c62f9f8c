import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StoredObject } from '#test/fakes/stored-objects.ts';
import { pod, readAnswer, review, type Answer } from './support/reviews.ts';
import { CLASSES, NAMESPACES, PODS, POLICIES, runWebhook, type RunningWebhook } from './support/webhook-process.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';

const STANDARD = { metadata: { name: 'standard' }, value: 100, globalDefault: true };
const LOW = { metadata: { name: 'low' }, value: 10 };

describe('the entry for priority classes', () => {
  let webhook: RunningWebhook;
  beforeAll(async () => {
    webhook = await runWebhook((api) => {
      api.put(NAMESPACES, { metadata: { name: 'team-a', labels: {} } });
      for (const each of [STANDARD, LOW]) api.put(CLASSES, each);
      api.put(POLICIES, { metadata: { name: 'tenants' }, spec: { defaultPriorityClassName: 'standard' } });
      api.put(PODS, pod({ priorityClassName: 'low' }, { name: 'batch' }) as StoredObject);
    });
  });
  afterAll(() => webhook.stop());

  async function ask(request: Record<string, unknown>): Promise<Answer> {
    const resource = { group: 'scheduling.k8s.io', version: 'v1', resource: 'priorityclasses' };
    const { status, body } = await webhook.post('/validate/classes', review({ resource, namespace: '', ...request }));
    expect(status).toBe(200);
    return readAnswer(body);
  }

  test('keeps a class that a policy names, even when all classes are deleted at once', async () => {
    for (const name of ['standard', '']) {
      const answer = await ask({ operation: 'DELETE', name, object: null, oldObject: STANDARD });
      expect(answer).toMatchObject({
        allowed: false,
        code: 403,
        message: MESSAGES.classInUse.text({
          priorityClassName: 'standard',
          mentions: ['PriorityPolicy `tenants` (defaultPriorityClassName)'],
        }),
      });
    }
  });

  test('allows deleting a class with a warning about the pods that use it', async () => {
    expect(await ask({ operation: 'DELETE', name: 'low', object: null, oldObject: LOW })).toMatchObject({
      allowed: true,
      warnings: [expect.stringMatching(/: `team-a\/batch`$/)],
    });
  });

  test('warns of annotations that do not count', async () => {
    const annotations = { 'plimsoll.dev/allow-preemption': 'no' };
    const object = { metadata: { name: 'odd', annotations }, value: 5 };
    expect(await ask({ operation: 'CREATE', name: 'odd', object, oldObject: null })).toMatchObject({
      allowed: true,
      warnings: [expect.stringContaining('is `no` and counts as absent')],
    });
  });

  test('refuses a second global default', async () => {
    const object = { metadata: { name: 'second' }, value: 5, globalDefault: true };
    expect(await ask({ operation: 'CREATE', name: 'second', object, oldObject: null })).toMatchObject({
      allowed: false,
      code: 403,
      message: MESSAGES.secondGlobalDefault.text({ priorityClassName: 'second', globalDefault: 'standard' }),
    });
  });

  test('warns of the consequences of removing the global default', async () => {
    const object = { ...STANDARD, globalDefault: false };
    const { allowed, warnings } = await ask({ operation: 'UPDATE', name: 'standard', object, oldObject: STANDARD });
    expect([allowed, warnings.length]).toEqual([true, 1]);
  });

  test('refuses what it cannot read, and what is no class', async () => {
    const broken = { metadata: { name: 'x' }, value: 'much' };
    expect(await ask({ operation: 'CREATE', name: 'x', object: broken, oldObject: null })).toMatchObject({
      allowed: false,
      code: 400,
    });
    const resource = { group: '', version: 'v1', resource: 'pods' };
    expect(await ask({ operation: 'DELETE', name: 'x', resource, object: null, oldObject: LOW })).toMatchObject({
      allowed: false,
      code: 400,
    });
  });
});

test('a class whose policy was just deleted may be deleted, because a refusal is checked live', async () => {
  const webhook = await runWebhook((api) => {
    api.put(CLASSES, STANDARD);
    api.put(POLICIES, { metadata: { name: 'tenants' }, spec: { defaultPriorityClassName: 'standard' } });
  });
  const resource = { group: 'scheduling.k8s.io', version: 'v1', resource: 'priorityclasses' };
  const request = { operation: 'DELETE', name: 'standard', namespace: '', resource, object: null, oldObject: STANDARD };
  webhook.api.forget(POLICIES, 'tenants');
  expect(readAnswer((await webhook.post('/validate/classes', review(request))).body)).toMatchObject({ allowed: true });
  await webhook.stop();
});
