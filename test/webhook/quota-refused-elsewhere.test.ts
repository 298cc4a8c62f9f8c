import { afterEach, describe, expect, test } from 'vitest';
import type { ApiDouble } from '#test/fakes/api-double.ts';
import { pod } from './support/reviews.ts';
import { PODS, POLICIES, PRIORITY_QUOTAS, QUOTAS } from './support/webhook-process.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';

import { HIGH, quota, quotaEntry, sized } from './support/quota-entry.ts';

describe('the quota entry charges nothing for a pod that something else refuses:', () => {
  const entry = quotaEntry();
  const { start, ask, status, resize } = entry;
  afterEach(() => entry.stop());

  const LOW_ONLY = { metadata: { name: 'low-only' }, spec: { allowedPriorityClassNames: ['low'] } };
  const FULL = {
    metadata: { name: 'full', namespace: 'team-a' },
    status: { hard: { 'requests.memory': '1Gi' }, used: { 'requests.memory': '512Mi' } },
  };
  const forged = { ...pod(HIGH, { uid: 'one', name: 'one' }), status: { qosClass: 'Guaranteed' } };

  const NOT_LOW = { policy: 'low-only', priorityClassName: 'high', allowed: ['low'] };
  const FORGED = { computed: 'Burstable', shown: '`Guaranteed`' };
  const TOO_FULL = {
    quota: 'full',
    where: 'in namespace `team-a`',
    resource: 'requests.memory',
    priorityClassName: 'high',
    hard: '1Gi',
    used: '512Mi',
    asked: '1Gi',
    free: '512Mi',
    others: [],
    holders: [],
  };

  test.each<[string, (api: ApiDouble) => void, Record<string, unknown>, string]>([
    ['a policy', (api) => api.put(POLICIES, LOW_ONLY), {}, MESSAGES.classNotAllowed.text(NOT_LOW)],
    ['a forged QoS class', () => undefined, { object: forged }, MESSAGES.forgedQosClass.text(FORGED)],
    ['a ResourceQuota of the namespace', (api) => api.put(QUOTAS, FULL), {}, MESSAGES.quotaExceeded.text(TOO_FULL)],
  ])('%s', async (_, prepare, more, message) => {
    await start((api) => {
      api.put(PRIORITY_QUOTAS, quota('q', { pods: '5' }));
      prepare(api);
    });
    const answer = await ask('one', 'team-a', more);
    expect(answer).toMatchObject({ allowed: false, code: 403 });
    expect(answer.message).toBe(message);
    expect(status('q')).toMatchObject({ used: { pods: '0' }, reserved: [] });
  });

  test('a ResourceQuota that a resize does not fit', async () => {
    await start((api) => {
      api.put(PRIORITY_QUOTAS, quota('q', { 'requests.memory': '8Gi' }));
      api.put(QUOTAS, FULL);
      api.put(PODS, sized('512Mi', 1));
    });
    expect(await resize(sized('512Mi', 1), sized('4Gi', 2))).toMatchObject({ allowed: false, code: 403 });
    expect(status('q')).toMatchObject({ used: { 'requests.memory': '512Mi' }, reserved: [] });
    expect(await resize(sized('512Mi', 1), sized('1Gi', 2))).toMatchObject({ allowed: true });
  });

  test('also when the API server cannot be asked whether the cache is right', async () => {
    await start((api) => {
      api.put(PRIORITY_QUOTAS, quota('q', { pods: '5' }));
      api.put(POLICIES, LOW_ONLY);
    });
    entry.webhook.api.silent = /prioritypolicies/;
    expect(await ask('one')).toMatchObject({ allowed: false, code: 403 });
    expect(status('q')).toMatchObject({ reserved: [] });
  });

  test('but charges one that only a cache refuses that is behind', async () => {
    await start((api) => {
      api.put(PRIORITY_QUOTAS, quota('q', { pods: '5' }));
      api.put(POLICIES, LOW_ONLY);
    });
    entry.webhook.api.forget(POLICIES, 'low-only');
    expect(await ask('one')).toMatchObject({ allowed: true });
    expect(status('q')).toMatchObject({ reserved: ['one'] });
  });

  test('but charges one that a policy only warns about, and one of our own accounts', async () => {
    await start((api) => {
      api.put(PRIORITY_QUOTAS, quota('q', { pods: '5' }));
      api.put(POLICIES, { ...LOW_ONLY, spec: { ...LOW_ONLY.spec, onViolation: 'Warn' } });
    });
    expect(await ask('one')).toMatchObject({ allowed: true, warnings: [] });
    entry.webhook.api.put(POLICIES, LOW_ONLY);
    const userInfo = { username: 'system:serviceaccount:plimsoll-system:plimsoll-scheduler', groups: [] };
    expect(await ask('two', 'team-a', { userInfo })).toMatchObject({ allowed: true });
    expect(status('q')).toMatchObject({ reserved: ['one', 'two'] });
  });

  test('but charges a resize of a pod whose class has been forbidden since', async () => {
    await start((api) => {
      api.put(PRIORITY_QUOTAS, quota('q', { 'requests.memory': '8Gi' }));
      api.put(POLICIES, LOW_ONLY);
      api.put(PODS, sized('512Mi', 1));
    });
    expect(await resize(sized('512Mi', 1), sized('4Gi', 2))).toMatchObject({ allowed: true });
    expect(status('q').used).toEqual({ 'requests.memory': '4Gi' });
  });

  test('but charges all of them where every refusal is only a warning', async () => {
    await start(
      (api) => {
        api.put(PRIORITY_QUOTAS, quota('q', { pods: '5' }));
        api.put(POLICIES, LOW_ONLY);
      },
      { mode: 'DryRun' },
    );
    expect(await ask('one')).toMatchObject({ allowed: true });
    expect(status('q')).toMatchObject({ reserved: ['one'] });
  });
});
