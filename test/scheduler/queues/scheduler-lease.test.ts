import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { followKubeScheduler } from '#scheduler/queues/kube-scheduler-lease.ts';
import { eventually } from '#test/build/waiting.ts';
import { runningApiServer } from '#test/sandbox/api-server/running-api-server.ts';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';

describe('following the Lease of kube-scheduler', () => {
  const server = runningApiServer();
  const ended = new AbortController();
  let client: KubeClient;
  let following: Promise<void>;
  const takeovers: string[] = [];

  beforeAll(() => {
    const { url, token, caPem: ca } = server();
    client = createClient(directConnection({ server: url, token, ca }), { userAgent: 'test' });
    const log = createLog({ component: 'scheduler', level: 'silent', format: 'json' });
    const options = { client, clock: systemClock, random: () => 0, log };
    following = followKubeScheduler(options, (holder) => void takeovers.push(holder), ended.signal);
  });
  afterAll(async () => {
    ended.abort();
    await following;
    client.close();
  });

  async function hold(name: string, holderIdentity: string, renewTime = '2026-01-01T00:00:00.000000Z'): Promise<void> {
    const body = { metadata: { name }, spec: { holderIdentity, renewTime } };
    const created = await client.request({ method: 'POST', path: LEASES, body });
    if (created.kind === 'ok') return;
    const request = {
      method: 'PATCH',
      path: `${LEASES}/${name}`,
      contentType: 'application/merge-patch+json',
    } as const;
    expect(await client.request({ ...request, body })).toMatchObject({ kind: 'ok' });
  }

  test('only another holder counts: not the first, no renewal, no other Lease, and not that it is given back', async () => {
    await hold('kube-scheduler', 'first');
    await hold('kube-scheduler', 'first', '2026-01-01T00:00:02.000000Z');
    await hold('other', 'x');
    await hold('other', 'y');
    await hold('kube-scheduler', '');
    await hold('kube-scheduler', 'first');
    await hold('kube-scheduler', 'second');
    await hold('kube-scheduler', '');
    await hold('kube-scheduler', 'third');
    await eventually(() => {
      expect(takeovers).toEqual(['second', 'third']);
    });
  });
});
