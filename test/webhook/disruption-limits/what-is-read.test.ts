import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { eventually } from '#test/build/waiting.ts';
import { pod, readAnswer, review } from '#test/webhook/support/reviews.ts';
import { NAMESPACES, PODS, runWebhook, type RunningWebhook } from '#test/webhook/support/webhook-process.ts';
import { createLimitCaches, createLimitLookUp } from '#webhook/cluster-state/limit-caches.ts';

const OURS = '/apis/plimsoll.dev/v1alpha1';
const SHOP = `${OURS}/namespaces/shop`;
const LIMITS = `${OURS}/disruptionlimits`;
const SPEC = { selector: { matchLabels: { app: 'web' } }, limits: [{ max: 2, window: '1h' }] };
const SILENT_MS = 90_001;

let webhook: RunningWebhook;
beforeEach(async () => {
  webhook = await runWebhook((api) => api.put(NAMESPACES, { metadata: { name: 'shop' } }));
});
afterEach(() => webhook.stop());

describe('what the gate reads and writes for an eviction', () => {
  let made = 0;

  /** The answer to an eviction of a new pod, and what was asked of the API server for it. */
  async function evict() {
    const name = `web-${(made += 1)}`;
    const metadata = { namespace: 'shop', name, uid: `uid-${name}`, labels: { app: 'web' } };
    webhook.api.put(PODS, { metadata, spec: pod()['spec'] });
    const asked: string[] = [];
    webhook.api.onRequest = ({ method, path, isWatch }) => {
      if (!isWatch && path.includes('/namespaces/shop/')) asked.push(`${method} ${path.replace(name, 'POD')}`);
      return undefined;
    };
    const { body } = await webhook.post('/validate/disruption-limits', reviewOf(name));
    return { ...readAnswer(body), asked };
  }

  function reviewOf(name: string): string {
    const object = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: 'shop' } };
    const resource = { group: '', version: 'v1', resource: 'pods' };
    const target = { operation: 'CREATE', resource, subResource: 'eviction', name, namespace: 'shop' };
    return review({ ...target, dryRun: false, userInfo: { username: 'ann', groups: [] }, object });
  }

  test('nothing, where the namespace has neither a limit nor a default', async () => {
    await eventually(async () => expect(await evict()).toMatchObject({ allowed: true, asked: [] }));
  });

  test('under a limit the pod, the budgets and the account, and one write', async () => {
    webhook.api.put(LIMITS, { metadata: { namespace: 'shop', name: 'web' }, spec: SPEC });
    await eventually(async () => expect((await evict()).asked).toHaveLength(5));
    const { allowed, asked } = await evict();
    expect(allowed).toBe(true);
    expect(asked.slice(0, -1).sort()).toEqual([
      'GET /api/v1/namespaces/shop/pods/POD',
      `GET ${SHOP}/disruptionaccounts/plimsoll`,
      'GET /apis/policy/v1/namespaces/shop/poddisruptionbudgets',
    ]);
    expect(asked.at(-1)).toBe(`PUT ${SHOP}/disruptionaccounts/plimsoll/status`);
    expect(await evict()).toMatchObject({ allowed: false, code: 429 });
  });

  test('a limit that cannot be read lets nothing go', async () => {
    webhook.api.put(LIMITS, { metadata: { namespace: 'shop', name: 'web' }, spec: { ...SPEC, limits: 'two' } });
    await eventually(async () => expect(await evict()).toMatchObject({ allowed: false, code: 429 }));
  });

  test('what is known is not used before the first list and after a long silence of the API server', async () => {
    const ended = new AbortController();
    const client = createClient(directConnection({ server: webhook.api.url }), { userAgent: 'test' });
    const log = createLog({ component: 'webhook', level: 'silent', format: 'json' });
    const context = { client, clock: systemClock, random: () => 0.5, log, metrics: createMetrics('webhook') };
    const caches = createLimitCaches(context);
    const later = { ms: 0 };
    const lookUp = createLimitLookUp(caches, { monotonic: () => systemClock.monotonic() + later.ms });
    expect(lookUp('shop')).toBe(undefined);
    for (const each of [caches.limits, caches.policies]) void each.run(ended.signal);
    await eventually(() => expect(lookUp('shop')).toEqual({ limits: [], policy: undefined }));
    later.ms = SILENT_MS;
    expect(lookUp('shop')).toBe(undefined);
    ended.abort();
    client.close();
  });
});

describe('what is read for a written budget', () => {
  function budgetOf(maxUnavailable: number, app: string): object {
    const spec = { maxUnavailable, selector: { matchLabels: { app } } };
    return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'web', namespace: 'shop' }, spec };
  }

  test('no pods, where a budget changes how many may be unavailable and nothing else', async () => {
    const policy = { metadata: { name: 'plimsoll' }, spec: { forbiddingBudgets: 'Deny' } };
    webhook.api.put(`${OURS}/disruptionpolicies`, policy);
    const asked: string[] = [];
    webhook.api.onRequest = ({ path, isWatch }) => {
      if (!isWatch && path.includes('/namespaces/shop/')) asked.push(path);
      return undefined;
    };
    const write = async (maxUnavailable: number, app: string, before = 'web') => {
      const resource = { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' };
      const [object, oldObject] = [budgetOf(maxUnavailable, app), budgetOf(1, before)];
      const target = { operation: 'UPDATE', resource, name: 'web', namespace: 'shop', object, oldObject };
      return readAnswer((await webhook.post('/validate/templates', review(target))).body);
    };
    await eventually(async () => {
      expect(await write(1, 'web', 'other')).toMatchObject({ allowed: true });
      expect(asked).toContain('/api/v1/namespaces/shop/pods');
    });
    asked.length = 0;
    expect(await write(2, 'web')).toMatchObject({ allowed: true });
    expect(asked).toEqual([]);
  });
});
