import { describe, expect, test } from 'vitest';
import { createClient } from '#shared/kube/client.ts';
import { directConnection } from '#shared/kube/connection.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createEndedPods } from '#webhook/ledger/ended-pods.ts';
import { objectServer } from '#test/fakes/object-server.ts';

const PODS = '/api/v1/pods';

describe('createEndedPods', () => {
  test('knows pods that were deleted while it watched, and begins again after a failure', async () => {
    const api = await objectServer();
    const client = createClient(directConnection({ server: api.url, token: 'token' }), { userAgent: 'test' });
    const log = createLog({ component: 'test', level: 'silent', format: 'json' });
    const ended = createEndedPods({ client, isNeeded: () => true, clock, random: () => 1, log });
    const done = new AbortController();
    api.failing = 503;
    const running = ended.run(done.signal);
    await clock.sleep(50);
    api.failing = undefined;
    api.put(PODS, { metadata: { name: 'stays', namespace: 'a', uid: 'stays' } });
    await expect
      .poll(
        () => {
          api.put(PODS, { metadata: { name: 'goes', namespace: 'a', uid: 'goes' } });
          api.remove(PODS, 'a/goes');
          return ended.has('goes');
        },
        { timeout: 20_000 },
      )
      .toBe(true);
    expect(ended.has('stays')).toBe(false);
    done.abort();
    await running;
    client.close();
    await api.close();
  });

  test('asks nothing while there is no quota', async () => {
    const client = {
      request: () => Promise.reject(new Error('nobody should ask')),
      stream: () => Promise.reject(new Error('nobody should ask')),
      close: () => undefined,
    };
    const log = createLog({ component: 'test', level: 'silent', format: 'json' });
    const ended = createEndedPods({ client, isNeeded: () => false, clock, random: () => 1, log });
    const done = new AbortController();
    const running = ended.run(done.signal);
    await clock.sleep(20);
    done.abort();
    await running;
    expect(ended.has('anything')).toBe(false);
  });
});
