import { afterEach, expect, test, vi } from 'vitest';
import { objectServer, type ObjectServer } from '#test/fakes/object-server.ts';
import { startInProcess, type InProcessWebhook } from './support/in-process.ts';
import { POLICIES } from './support/webhook-process.ts';

const LEASES = '/apis/coordination.k8s.io/v1/leases';
const LEASE = 'plimsoll-system/plimsoll-webhook';
/** Several times what it takes the leader to write its first conditions. */
const QUIET_MS = 1_500;
const started: InProcessWebhook[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((webhook) => webhook.stop()));
});

async function replica(api: ObjectServer): Promise<InProcessWebhook> {
  const webhook = await startInProcess({ url: api.url, token: 'token', caPem: '' });
  started.push(webhook);
  return webhook;
}

async function leads({ healthUrl }: InProcessWebhook): Promise<boolean> {
  const metrics = await (await fetch(`${healthUrl}/metrics`)).text();
  return /^plimsoll_webhook_leader(\{[^}]*\})? 1$/m.test(metrics);
}

function holderIn(api: ObjectServer): unknown {
  return (api.get(LEASES, LEASE)?.['spec'] as { readonly holderIdentity?: unknown } | undefined)?.holderIdentity;
}

function conditionsOf(api: ObjectServer, policy: string): unknown {
  return (api.get(POLICIES, policy)?.['status'] as { readonly conditions?: unknown } | undefined)?.conditions;
}

test('the first replica leads at once, and when it stops it gives the lease back to the next', async () => {
  const api = await objectServer();
  const first = await replica(api);
  await vi.waitFor(async () => expect(await leads(first)).toBe(true), { timeout: QUIET_MS });
  const second = await replica(api);
  const holder = holderIn(api);
  expect([await leads(second), typeof holder]).toEqual([false, 'string']);
  await first.stop();
  expect(holderIn(api)).toBe('');
  await vi.waitFor(async () => expect(await leads(second)).toBe(true), { timeout: 5_000 });
  expect(holderIn(api)).not.toBe(holder);
  await second.stop();
  started.splice(0);
  await api.close();
});

test('a replica that does not lead writes no conditions', async () => {
  const api = await objectServer();
  api.put(POLICIES, { metadata: { name: 'p' }, spec: {} });
  const spec = { holderIdentity: 'another', leaseDurationSeconds: 3_600 };
  api.put(LEASES, { metadata: { namespace: 'plimsoll-system', name: 'plimsoll-webhook', uid: 'u' }, spec });
  await replica(api);
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  expect(conditionsOf(api, 'p')).toBeUndefined();
  api.remove(LEASES, LEASE);
  await vi.waitFor(() => expect(conditionsOf(api, 'p')).toHaveProperty('0.type', 'Ready'), { timeout: 5_000 });
});
