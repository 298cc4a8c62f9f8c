import { afterEach, beforeEach, expect, test } from 'vitest';
import { apiDouble, type ApiDouble } from '#test/fakes/api-double.ts';
import { startInProcess, type InProcessWebhook } from './support/in-process.ts';
import { POLICIES } from './support/webhook-process.ts';
import { eventually } from '#test/build/waiting.ts';

const LEASES = '/apis/coordination.k8s.io/v1/leases';
const LEASE = 'plimsoll-system/plimsoll-webhook';
const AT_ONCE_MS = 1_500;
const started: InProcessWebhook[] = [];
let api: ApiDouble;

beforeEach(async () => {
  api = await apiDouble();
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((webhook) => webhook.stop()));
  await api.close();
});

async function replica(): Promise<InProcessWebhook> {
  const webhook = await startInProcess({ url: api.url, token: 'token', caPem: '' });
  started.push(webhook);
  return webhook;
}

async function leads({ healthUrl }: InProcessWebhook): Promise<boolean> {
  const metrics = await (await fetch(`${healthUrl}/metrics`)).text();
  return /^plimsoll_webhook_leader(\{[^}]*\})? 1$/m.test(metrics);
}

function holder(): unknown {
  return (api.get(LEASES, LEASE)?.['spec'] as { readonly holderIdentity?: unknown } | undefined)?.holderIdentity;
}

function conditionsOf(policy: string): unknown {
  return (api.get(POLICIES, policy)?.['status'] as { readonly conditions?: unknown } | undefined)?.conditions;
}

test('the first replica leads at once, and when it stops it gives the lease back to the next', async () => {
  const first = await replica();
  await eventually(async () => expect(await leads(first)).toBe(true), AT_ONCE_MS);
  const second = await replica();
  const firstHolder = holder();
  expect([await leads(second), typeof firstHolder]).toEqual([false, 'string']);
  await started.shift()?.stop();
  expect(holder()).toBe('');
  await eventually(async () => expect(await leads(second)).toBe(true), 5_000);
  expect(holder()).not.toBe(firstHolder);
});

test('a replica that does not lead writes no conditions', async () => {
  api.put(POLICIES, { metadata: { name: 'p' }, spec: {} });
  const spec = { holderIdentity: 'another', leaseDurationSeconds: 3_600 };
  api.put(LEASES, { metadata: { namespace: 'plimsoll-system', name: 'plimsoll-webhook', uid: 'u' }, spec });
  let looks = 0;
  api.onRequest = ({ path }) => void (looks += path.includes('/leases') ? 1 : 0);
  await replica();
  // It asks, lists and watches; it would have written them after the first.
  await eventually(() => expect(looks).toBeGreaterThan(2), 10_000);
  expect(conditionsOf('p')).toBeUndefined();
  api.remove(LEASES, LEASE);
  await eventually(() => expect(conditionsOf('p')).toHaveProperty('0.type', 'Ready'), 5_000);
});
