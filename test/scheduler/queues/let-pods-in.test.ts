import { describe, expect, test } from 'vitest';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { letPodsIn, type Refusal, refusalOf } from '#scheduler/queues/let-pods-in.ts';
import { createQueueMetrics } from '#scheduler/queues/queue-metrics.ts';
import { at } from '#test/contract/harness.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { GATE, queueFor, queueWorld } from '#test/shared/decide/queues/queue-world.ts';

const log = createLog({ component: 'scheduler', level: 'silent', format: 'json' });
const OK: Outcome<unknown> = { kind: 'ok', object: { metadata: { name: 'x' } }, warnings: [] };

function stage(answer: (request: KubeRequest) => Outcome<unknown>, annotations = new Map<string, string>()) {
  const world = queueWorld([queueFor('shop')]);
  const { client, requests } = scriptedClient(answer);
  let [now, isHeld] = [1_000_000, true];
  const clock = { now: () => now, monotonic: () => now, sleep: () => Promise.resolve() };
  const metrics = createQueueMetrics(createMetrics('scheduler'));
  const classOf = (name: string) =>
    name === 'batch'
      ? { name, uid: 'uid-batch', value: 0, isGlobalDefault: false, preemptionPolicy: '', annotations }
      : undefined;
  const ports = { client, clock, log, pods: world.pods, metrics, classOf, refused: new Map<string, Refusal>() };
  return {
    ...world,
    requests,
    refusal: (uid: string) => refusalOf(uid, ports),
    pass: () => letPodsIn(world.plan(), { ...ports, term: { isHeld: () => isHeld } }, new AbortController().signal),
    later: (ms: number) => void (now += ms),
    lose: () => void (isHeld = false),
  };
}

describe('letting pods in', () => {
  test('is one patch: gate and annotation, for this state of this pod alone; other gates stay', async () => {
    const { see, pass, requests } = stage(() => OK);
    see({
      name: 'a',
      gates: [GATE, 'example.com/other'],
      labels: { applicationId: 'spark-1' },
      spec: { preemptionPolicy: 'Never' },
    });
    await pass();
    expect(requests).toMatchObject([{ method: 'PATCH', path: '/api/v1/namespaces/shop/pods/a' }]);
    const body = requests[0]?.body;
    expect(body).toMatchObject({
      metadata: { uid: 'uid-a', resourceVersion: '7' },
      spec: { schedulingGates: [{ name: 'example.com/other' }] },
    });
    const annotations = at(body, 'metadata.annotations') as Readonly<Record<string, string>>;
    expect(JSON.parse(annotations['plimsoll.dev/admitted'] ?? '')).toEqual({
      queue: 'of-shop',
      application: 'shop/spark-1',
      mayPreempt: false,
      mayBePreempted: true,
      at: '1970-01-01T00:16:40.000Z',
      decision: expect.any(String) as unknown,
    });
    await pass();
    expect(requests).toHaveLength(1);
  });

  test.each([
    [undefined, undefined, true],
    ['true', undefined, true],
    ['false', undefined, false],
    ['false', 'true', true],
    ['by-pod', undefined, true],
    ['by-pod', 'false', false],
  ])(
    'records whether class (%s) and pod (%s) allow preemption (S2-5, S2-7, S2-28): %s',
    async (ofClass, ofPod, expected) => {
      const asked = (value: string | undefined) =>
        value === undefined ? {} : { 'plimsoll.dev/allow-preemption': value };
      const annotations = new Map<string, string>(Object.entries(asked(ofClass)));
      const { see, pass, requests } = stage(() => OK, annotations);
      see({ name: 'a', gates: [GATE], wishes: asked(ofPod), spec: { priorityClassName: 'batch' } });
      await pass();
      const written = at(requests[0]?.body, 'metadata.annotations') as Readonly<Record<string, string>>;
      expect(JSON.parse(written['plimsoll.dev/admitted'] ?? '')).toMatchObject({ mayBePreempted: expected });
    },
  );

  test('is tried again after a pause that doubles, and says why meanwhile', async () => {
    const { see, pass, later, refusal, requests } = stage(() => ({
      kind: 'invalid',
      status: 422,
      message: 'annotations too long',
    }));
    see({ name: 'a', gates: [GATE] });
    await pass();
    expect(refusal('uid-a')).toMatchObject({
      code: 'CannotBeLetIn',
      text: 'the API server refuses to let it in: annotations too long',
    });
    for (const [ms, attempts] of [
      [9_999, 1],
      [1, 2],
      [19_999, 2],
      [1, 3],
    ] as const) {
      later(ms);
      await pass();
      expect(requests).toHaveLength(attempts);
    }
  });

  test('a fault that says nothing about the pod keeps it waiting for a second, and never for more than thirty', async () => {
    const { see, pass, later, requests } = stage(() => ({ kind: 'timeout', message: 'no answer within 5000 ms' }));
    see({ name: 'a', gates: [GATE] });
    await pass();
    later(1_000);
    await pass();
    expect(requests).toHaveLength(2);
    for (let minute = 0; minute < 10; minute += 1) {
      later(60_000);
      await pass();
    }
    later(30_000);
    await pass();
    expect(requests).toHaveLength(13);
  });

  test('stops with the term of the leader', async () => {
    const { see, pass, lose, requests } = stage(() => OK);
    see({ name: 'a', gates: [GATE] });
    lose();
    await pass();
    expect(requests).toEqual([]);
  });

  test('a pod that has changed is tried again by the next pass, one that may not be changed after ten seconds', async () => {
    const answers: Outcome<unknown>[] = [
      { kind: 'conflict', message: 'changed' },
      { kind: 'forbidden', message: 'a webhook says no' },
    ];
    const { see, pass, later, requests } = stage(() => answers.shift() ?? OK);
    see({ name: 'a', gates: [GATE] });
    for (const expected of [1, 2, 2]) {
      await pass();
      expect(requests).toHaveLength(expected);
    }
    later(10_000);
    await pass();
    expect(requests).toHaveLength(3);
  });

  test('a pod that is refused keeps no other pod waiting', async () => {
    const { see, pass, pods } = stage(({ path }) => (path.endsWith('/a') ? { kind: 'forbidden', message: 'no' } : OK));
    for (const name of ['a', 'b']) see({ name, gates: [GATE] });
    await pass();
    expect(['a', 'b'].map((name) => pods.get(`uid-${name}`)?.admitted?.queue)).toEqual([undefined, 'of-shop']);
  });
});
