import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { startSandboxWebhook, type SandboxWebhook } from '#test/webhook/no-way-round/sandbox-webhook.ts';

const POLICIES = '/apis/plimsoll.dev/v1alpha1/disruptionpolicies';
let webhook: SandboxWebhook;
let client: KubeClient;
let made = 0;

beforeAll(async () => {
  webhook = await startSandboxWebhook();
  // The API server answers alone.
  await webhook.stopWebhook();
  client = createClient(webhook.target.connection, { userAgent: 'test' });
});
afterAll(async () => {
  client.close();
  await webhook.stop();
});

async function respondWith(forbiddingBudgets: string): Promise<void> {
  await client.request({ method: 'DELETE', path: `${POLICIES}/plimsoll` });
  const body = {
    apiVersion: 'plimsoll.dev/v1alpha1',
    kind: 'DisruptionPolicy',
    metadata: { name: 'plimsoll' },
    spec: { forbiddingBudgets },
  };
  expect(await client.request({ method: 'POST', path: POLICIES, body })).toMatchObject({ kind: 'ok' });
}

function create(spec: object, namespace = 'default') {
  const metadata = { name: `budget-${(made += 1)}` };
  const body = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec: { selector: {}, ...spec } };
  return client.request({ method: 'POST', path: `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`, body });
}

const FORBIDDING = [
  { maxUnavailable: 0 },
  { maxUnavailable: '0%' },
  { minAvailable: '100%' },
  { minAvailable: 2_147_483_647 },
];
const ALLOWING = [{ maxUnavailable: 1 }, { maxUnavailable: '10%' }, { minAvailable: '99%' }, { minAvailable: 3 }];

test('without a DisruptionPolicy, and with Show, nothing happens to a budget that forbids every eviction (S3-17)', async () => {
  for (const spec of FORBIDDING) expect(await create(spec)).toMatchObject({ kind: 'ok', warnings: [] });
  await respondWith('Show');
  for (const spec of FORBIDDING) expect(await create(spec)).toMatchObject({ kind: 'ok', warnings: [] });
});

test('Warn warns the author, Deny refuses it, and others are left alone (S3-17)', async () => {
  await respondWith('Warn');
  const warning = expect.stringContaining('this budget forbids every eviction of its pods') as string;
  for (const spec of FORBIDDING) expect(await create(spec)).toMatchObject({ kind: 'ok', warnings: [warning] });
  await respondWith('Deny');
  for (const spec of FORBIDDING) expect(await create(spec)).toMatchObject({ kind: 'forbidden', message: warning });
  for (const spec of ALLOWING) expect(await create(spec)).toMatchObject({ kind: 'ok', warnings: [] });
  expect(await create({ maxUnavailable: 0 }, 'kube-system')).toMatchObject({ kind: 'ok' });
});
