import { describe, expect, test } from 'vitest';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import { type EvictionOutcome, evictPod } from '#shared/kube/events/evict-pod.ts';
import { failureOf, type Failure, type Outcome } from '#shared/kube/client/outcome.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';

const EVICTION = { namespace: 'team-a', name: 'web-1', uid: 'u-1' };

async function evict(outcome: Outcome<unknown>): Promise<EvictionOutcome> {
  return evictPod(scriptedClient(() => outcome).client, EVICTION);
}

describe('evictPod', () => {
  test('names the pod that was judged, and leaves its grace to it', async () => {
    const { client, requests } = scriptedClient(() => ({ kind: 'ok', object: {}, warnings: [] }));
    expect(await evictPod(client, EVICTION)).toEqual({ kind: 'evicted' });
    await evictPod(client, { ...EVICTION, gracePeriodSeconds: 5, dryRun: true });
    const expected = (deleteOptions: object, dryRun?: string): Partial<KubeRequest> => ({
      method: 'POST',
      path: '/api/v1/namespaces/team-a/pods/web-1/eviction',
      query: { dryRun },
      body: {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { namespace: 'team-a', name: 'web-1' },
        deleteOptions: { preconditions: { uid: 'u-1' }, ...deleteOptions },
      },
    });
    expect(requests).toEqual([
      expect.objectContaining(expected({ gracePeriodSeconds: undefined }, undefined)),
      expect.objectContaining(expected({ gracePeriodSeconds: 5 }, 'All')),
    ]);
  });

  test('writes the given annotations into the Eviction', async () => {
    const { client, requests } = scriptedClient(() => ({ kind: 'ok', object: {}, warnings: [] }));
    await evictPod(client, { ...EVICTION, annotations: { why: 'memory' } });
    expect(requests[0]?.body).toMatchObject({
      metadata: { namespace: 'team-a', name: 'web-1', annotations: { why: 'memory' } },
    });
  });

  test.each<[string, object, string]>([
    ['no UID', { uid: '' }, 'cannot evict pod "web-1": the UID of the judged pod is missing'],
    ['grace 0', { gracePeriodSeconds: 0 }, 'a grace period of 0 s'],
    ['a negative grace', { gracePeriodSeconds: -1 }, 'a grace period of -1 s'],
    ['half a second', { gracePeriodSeconds: 0.5 }, 'a grace period of 0.5 s'],
    ['no number', { gracePeriodSeconds: NaN }, 'a grace period of NaN s'],
  ])('sends nothing with %s', async (_, changes, message) => {
    const { client, requests } = scriptedClient(() => ({ kind: 'ok', object: {}, warnings: [] }));
    expect(await evictPod(client, { ...EVICTION, ...changes })).toEqual({
      kind: 'invalid',
      message: expect.stringContaining(message) as string,
    });
    expect(requests).toEqual([]);
  });

  const BUDGET = { message: 'spent', details: { causes: [{ reason: 'DisruptionBudget', message: 'x' }] } };
  /** As a real API server says it. */
  const UNJUDGED =
    'Internal error occurred: failed calling webhook "own-evictions.plimsoll.dev": failed to call webhook: Post "x": dial tcp: connect: connection refused';
  const TWO = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';

  test.each<[string, Failure, unknown]>([
    [
      'a spent budget',
      failureOf(429, BUDGET),
      { kind: 'tooManyRequests', cause: 'budget', message: 'spent', retryAfterSeconds: undefined, budget: 'x' },
    ],
    [
      'a busy server',
      failureOf(429, { message: 'busy' }, '3'),
      { kind: 'tooManyRequests', cause: 'throttled', message: 'busy', retryAfterSeconds: 3 },
    ],
    ...(['virt-launcher-eviction-interceptor.kubevirt.io', 'evictions.plimsoll.dev'] as const).map(
      (webhook): [string, Failure, unknown] => {
        const message = `admission webhook "${webhook}" denied the request: m`;
        const cause = webhook.endsWith('plimsoll.dev') ? 'throttled' : 'webhook';
        const outcome = { kind: 'tooManyRequests', cause, message, retryAfterSeconds: undefined };
        return [`a denial by ${webhook}`, failureOf(429, { message }), outcome];
      },
    ),
    ...[400, 403, 404, 409, 410, 422, 500, 503].map((code): [string, Failure, unknown] => {
      const message = 'admission webhook "evictions.example.com" denied the request: moving';
      const outcome = { kind: 'tooManyRequests', cause: 'webhook', message, retryAfterSeconds: 7 };
      return [`a denial by another project with ${code}`, failureOf(code, { message }, '7'), outcome];
    }),
    ['two budgets', failureOf(500, { message: TWO }), { kind: 'severalBudgets', message: TWO }],
    [
      'another failure of the server',
      failureOf(500, { message: 'oh' }),
      { kind: 'serverError', message: 'oh', status: 500 },
    ],
    [
      'our own webhook that does not answer',
      failureOf(500, { message: UNJUDGED }),
      { kind: 'tooManyRequests', cause: 'throttled', message: UNJUDGED, retryAfterSeconds: 2 },
    ],
    [
      'a webhook of another project that does not answer',
      failureOf(500, { message: UNJUDGED.replace('plimsoll.dev', 'example.com') }),
      { kind: 'serverError', message: UNJUDGED.replace('plimsoll.dev', 'example.com'), status: 500 },
    ],
    [
      'a timeout of the server',
      failureOf(504, { message: 'slow' }),
      { kind: 'serverError', message: 'slow', status: 504 },
    ],
    ['another pod of that name', failureOf(409, { message: 'uid' }), { kind: 'uidMismatch', message: 'uid' }],
    ['a pod that is gone', failureOf(404, { message: 'none' }), { kind: 'notFound', message: 'none' }],
    ['missing rights', failureOf(403, { message: 'no' }), { kind: 'forbidden', message: 'no' }],
    ['a bad token', failureOf(401, { message: 'who' }), { kind: 'unauthorized', message: 'who' }],
    ['a refusal of the body', failureOf(400, { message: 'bad' }), { kind: 'invalid', message: 'bad' }],
    ['no answer', { kind: 'unreachable', message: 'reset' }, { kind: 'unreachable', message: 'reset' }],
    ['no answer in time', { kind: 'timeout', message: 'late' }, { kind: 'timeout', message: 'late' }],
  ])('tells %s apart', async (_, failure, expected) => {
    expect(await evict(failure)).toEqual(expected);
  });
});
