import { expect, test } from 'vitest';
import { createLog } from '#shared/runtime/log.ts';
import { clearMarks } from '#scheduler/queues/clear-marks.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { systemClock } from '#shared/runtime/clock.ts';

test('marks that others wrote are removed a minute after they were seen, from exactly the pod that had them', async () => {
  const { client, requests } = scriptedClient(() => ({
    kind: 'ok',
    object: { metadata: { name: 'x' } },
    warnings: [],
  }));
  const mark = { uid: 'u', namespace: 'late', name: 'a', seenAt: 0 };
  const log = createLog({ component: 'scheduler', level: 'silent', format: 'json' });
  const clear = async (now: number, isHeld = true): Promise<number> => {
    const clock = { ...systemClock, now: () => now };
    const ports = { client, clock, log, pods: { forged: () => [mark] }, term: { isHeld: () => isHeld } };
    await clearMarks(ports, new AbortController().signal);
    return requests.length;
  };
  expect([await clear(59_999), await clear(60_000, false), await clear(60_000)]).toEqual([0, 0, 1]);
  expect(requests[0]).toMatchObject({
    path: '/api/v1/namespaces/late/pods/a',
    body: { metadata: { uid: 'u', annotations: { 'plimsoll.dev/admitted': null } } },
  });
});
