import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BadInput } from './bad-input.ts';
import { BAD_INPUTS, prepareCluster } from './cluster.ts';
import { createPodReview, pod, readAnswer } from '#test/webhook/support/reviews.ts';
import { CLASSES, runWebhook, type RunningWebhook } from '#test/webhook/support/webhook-process.ts';
import { PHRASES } from '#shared/domain/admission/messages/priority-messages.ts';
import { eventually } from '#test/build/waiting.ts';

describe('bad inputs', () => {
  let webhook: RunningWebhook;
  beforeAll(async () => (webhook = await runWebhook(prepareCluster)));
  afterAll(() => webhook.stop());

  const named = BAD_INPUTS.map((input) => [`${input.id}: ${input.what}`, input] as [string, BadInput]);
  test.each(named)('%s', async (_, { path, body, headers, method, expected }) => {
    const answer = await webhook.post(path, body, headers, method);
    expect(answer.status, answer.body.slice(0, 500)).toBe(expected.status);
    if (expected.allowed === undefined) {
      expect(answer.body).toMatch(expected.isBare === true ? /^$/ : /^\{"kind":"Status","apiVersion":"v1"/);
      expect(answer.body.length).toBeLessThan(500);
      return;
    }
    const { allowed, code, message, patch } = readAnswer(answer.body);
    expect({ allowed, code, explained: message !== '' }, message).toEqual({
      allowed: expected.allowed,
      code: expected.code,
      explained: true,
    });
    expect((patch as unknown[] | undefined)?.length ?? 0).toBeLessThanOrEqual(expected.operations ?? 6);
    expect(Reflect.get({}, 'allowed')).toBeUndefined();
  });

  test('none of them stops the next good one', async () => {
    const { status, body } = await webhook.post('/mutate', createPodReview(pod({ priorityClassName: 'standard' })));
    expect({ status, allowed: readAnswer(body).allowed }).toEqual({ status: 200, allowed: true });
  });

  test('B-18: of two default classes the lower one is set, every time', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, async () => readAnswer((await webhook.post('/mutate', createPodReview(pod()))).body)),
    );
    for (const { patch, warnings } of answers) {
      expect(patch).toContainEqual({ op: 'add', path: '/spec/priority', value: 100 });
      expect(warnings).toEqual([
        'several priority classes are the global default (`other-default`, `standard`): the lowest, `standard`, counts',
      ]);
    }
  });

  test('B-18: a warning Event of the class that counts', async () => {
    await eventually(
      () =>
        expect(webhook.api.all('/apis/events.k8s.io/v1/events')).toContainEqual(
          expect.objectContaining({
            type: 'Warning',
            reason: 'SeveralGlobalDefaults',
            regarding: expect.objectContaining({ kind: 'PriorityClass', name: 'standard' }) as object,
            note: 'several priority classes are the global default (`other-default`, `standard`): the lowest, `standard`, counts',
          }),
        ),
      30_000,
    );
  });

  test('B-20: a class made again with another value between the phases refuses the old number', async () => {
    const before = { priorityClassName: 'fleeting', priority: 70, preemptionPolicy: 'PreemptLowerPriority' };
    webhook.api.put(CLASSES, { metadata: { name: 'fleeting' }, value: 70, preemptionPolicy: 'PreemptLowerPriority' });
    const mutated = await webhook.post('/mutate', createPodReview(pod({ priorityClassName: 'fleeting' })));
    expect(readAnswer(mutated.body).patch).toContainEqual({ op: 'add', path: '/spec/priority', value: 70 });
    webhook.api.remove(CLASSES, 'fleeting');
    webhook.api.put(CLASSES, { metadata: { name: 'fleeting' }, value: 80, preemptionPolicy: 'PreemptLowerPriority' });
    const refused = async () => readAnswer((await webhook.post('/validate', createPodReview(pod(before)))).body);
    await eventually(async () => expect((await refused()).code).toBe(403), 30_000);
    expect((await refused()).message).toBe(
      PHRASES.classJustChanged(
        'pods "web" is forbidden: the integer value of priority (70) must not be provided in pod spec; priority admission ' +
          'controller computed 80 from the given PriorityClass name',
      ),
    );
  });
});
