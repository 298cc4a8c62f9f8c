import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPod } from '#dashboard/pods/read-pod.ts';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { EVICTED } from '#test/cli/disruptions/example-disruptions.ts';
import { runningApiServer } from '#test/sandbox/api-server/running-api-server.ts';

const server = runningApiServer();
let client: KubeClient;

beforeAll(async () => {
  const { url, token, caPem: ca } = server();
  client = createClient(directConnection({ server: url, token, ca }), { userAgent: 'test' });
  await installPlimsoll(client);
}, 60_000);
afterAll(() => client.close());

test('a record names a pod alone or among others of its owner', async () => {
  const record = EVICTED as { readonly metadata: object; readonly spec: { readonly pod: string } };
  const path = '/apis/plimsoll.dev/v1alpha1/namespaces/default/disruptions';
  const body = { ...record, metadata: { name: 'storm' } };
  expect(await client.request({ method: 'POST', path, body })).toMatchObject({ kind: 'ok' });
  const others = [{ pod: 'web-2', removedAt: '2026-01-01T00:00:00Z' }];
  const status = { status: { count: 2, others } };
  const contentType = 'application/merge-patch+json';
  const patched = await client.request({ method: 'PATCH', path: `${path}/storm/status`, body: status, contentType });
  expect(patched).toMatchObject({ kind: 'ok' });
  const removals = async (name: string) => {
    const read = await readPod(
      { client, clock: systemClock },
      { namespace: 'default', name },
      AbortSignal.timeout(9_000),
    );
    return read.kind === 'read' ? read.evidence.removals.length : read.message;
  };
  expect(await Promise.all([record.spec.pod, 'web-2', 'web-3'].map(removals))).toEqual([1, 1, 0]);
});
