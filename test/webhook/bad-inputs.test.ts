import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BAD_INPUTS, type BadInput } from './bad-inputs.ts';
import { readAnswer } from './reviews.ts';
import { CLASSES, NAMESPACES, runWebhook, type RunningWebhook } from './webhook-process.ts';

describe('bad inputs', () => {
  let webhook: RunningWebhook;
  beforeAll(async () => {
    webhook = await runWebhook((api) => {
      api.put(NAMESPACES, { metadata: { name: 'team-a' } });
      api.put(CLASSES, { metadata: { name: 'standard' }, value: 100, preemptionPolicy: 'PreemptLowerPriority' });
      api.put('/api/v1/pods', { metadata: { name: 'web', namespace: 'team-a', uid: 'x' } });
    });
  });
  afterAll(() => webhook.stop());

  const named = BAD_INPUTS.map((input) => [`${input.id}: ${input.what}`, input] as [string, BadInput]);
  test.each(named)('%s', async (_, { path = '/mutate', body, headers, expected }) => {
    const answer = await webhook.post(path, body, headers);
    expect(answer.status).toBe(expected.status);
    if (expected.allowed === undefined) expect(answer.body).toMatch(/^\{"kind":"Status","apiVersion":"v1"/);
    else expect(readAnswer(answer.body)).toMatchObject({ allowed: expected.allowed, code: expected.code });
    if (expected.allowed === false) expect(readAnswer(answer.body).message).not.toBe('');
    expect(Reflect.get({}, 'allowed')).toBeUndefined();
  });
});
