import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { at } from '#test/contract/harness.ts';
import { ownEvictions } from '#test/webhook/support/own-evictions.ts';
import { NAMESPACES, runWebhook, type RunningWebhook } from '#test/webhook/support/webhook-process.ts';

const OURS = '/apis/plimsoll.dev/v1alpha1';
const ACCOUNTS = `${OURS}/disruptionaccounts`;
const BUDGETS = '/apis/policy/v1/poddisruptionbudgets';
const METADATA = { labels: { app: 'web' } };
const SEVERE = { annotations: { 'plimsoll.dev/eviction-urgency': 'Severe' } };
const SETTINGS = { evictions: { perMinute: 50 } };

describe('evictions by our agents under a DisruptionLimit, in a namespace without the label', () => {
  let webhook: RunningWebhook;
  const { given, evict } = ownEvictions(() => webhook);
  beforeAll(async () => {
    webhook = await runWebhook((api) => {
      api.put(NAMESPACES, { metadata: { name: 'team-a' } });
      api.put('/api/v1/nodes', { metadata: { name: 'node-a' } });
      const spec = { selector: { matchLabels: { app: 'web' } }, limits: [{ max: 1, window: '1h' }] };
      api.put(`${OURS}/disruptionlimits`, { metadata: { namespace: 'team-a', name: 'web' }, spec });
    }, SETTINGS);
  });
  afterAll(() => webhook.stop());
  beforeEach(() => {
    webhook.api.remove(ACCOUNTS, 'team-a/plimsoll');
    webhook.api.remove(BUDGETS, 'team-a/web');
    webhook.api.remove(ACCOUNTS, 'plimsoll-system/plimsoll-evictions');
  });

  const debits = () => at(webhook.api.get(ACCOUNTS, 'team-a/plimsoll'), 'status.debits');

  test('the second in an hour is refused for its limit, and the node still has its own', async () => {
    expect(await evict(given('node-a', {}, METADATA))).toMatchObject({ allowed: true });
    const answer = await evict(given('node-a', {}, METADATA));
    expect(answer).toMatchObject({ allowed: false, code: 429 });
    expect(answer.message).toMatch(/^DisruptionLimit `web`: at most 1 pods may be removed in 1h; 1 were/);
    expect(debits()).toMatchObject([{ component: 'Agent' }]);
  });

  test.each(['plimsoll-queues', 'plimsoll-rescheduling', 'plimsoll-scheduler'])(
    'a reclaim or a move by %s is limited likewise',
    async (name) => {
      const by = { username: `system:serviceaccount:plimsoll-system:${name}`, extra: {} };
      expect(await evict(given('node-a', {}, METADATA), by)).toMatchObject({ allowed: true });
      const answer = await evict(given('node-a', {}, METADATA), by);
      expect(answer).toMatchObject({ allowed: false, code: 429 });
      expect(answer.message).toMatch(/^DisruptionLimit `web`: at most 1 pods may be removed in 1h; 1 were/);
      expect(debits()).toMatchObject([{ component: 'Scheduler' }]);
    },
  );

  test('in the severe stage it goes beyond the limit, and the debit says which', async () => {
    await evict(given('node-a', {}, METADATA));
    expect(await evict(given('node-a', {}, METADATA), SEVERE)).toMatchObject({ allowed: true });
    expect(debits()).toMatchObject([{}, { component: 'Agent', overran: 'limit/web' }]);
  });

  test('but never beyond a PodDisruptionBudget', async () => {
    const metadata = { namespace: 'team-a', name: 'web' };
    const budget = {
      metadata,
      spec: { selector: { matchLabels: { app: 'web' } } },
      status: { observedGeneration: 1, disruptionsAllowed: 0 },
    };
    webhook.api.put(BUDGETS, budget);
    expect(await evict(given('node-a', {}, METADATA), SEVERE)).toMatchObject({ allowed: false, code: 429 });
    expect(debits()).toBeUndefined();
  });

  test('of a limit the agent gets its share, and no more (S3-19)', async () => {
    const spec = {
      selector: { matchLabels: { app: 'shared' } },
      limits: [{ max: 2, window: '1h' }],
      shares: [{ component: 'Agent', percent: 50 }],
    };
    webhook.api.put(`${OURS}/disruptionlimits`, { metadata: { namespace: 'team-a', name: 'shared' }, spec });
    const metadata = { labels: { app: 'shared' } };
    expect(await evict(given('node-a', {}, metadata))).toMatchObject({ allowed: true });
    const answer = await evict(given('node-a', {}, metadata));
    expect(answer.message).toMatch(/this caller may remove at most 1 pods in 1h; it removed 1/);
  });
});
