import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StoredObject } from '#test/fakes/stored-objects.ts';
import { createPodReview, pod, readAnswer } from '#test/webhook/support/reviews.ts';
import {
  CLASSES,
  NAMESPACES,
  POLICIES,
  runWebhook,
  type RunningWebhook,
} from '#test/webhook/support/webhook-process.ts';
import { eventually } from '#test/build/waiting.ts';

const EVENTS = '/apis/events.k8s.io/v1/events';
const HIGH = { priorityClassName: 'high', priority: 1_000, preemptionPolicy: 'PreemptLowerPriority' };

type StoredEvent = StoredObject & {
  readonly regarding?: { readonly uid: string };
  readonly reason?: string;
  readonly series?: { readonly count: number };
};

describe('Events of the webhook', () => {
  let webhook: RunningWebhook;
  beforeAll(async () => {
    webhook = await runWebhook((api) => {
      api.put(NAMESPACES, { metadata: { name: 'team-a', labels: {} } });
      api.put(CLASSES, { metadata: { name: 'high' }, value: 1_000 });
      api.put(CLASSES, { metadata: { name: 'low' }, value: 1 });
      api.put(POLICIES, {
        metadata: { name: 'strict', uid: 'uid-strict' },
        spec: { allowedPriorityClassNames: ['low'] },
      });
      api.put(POLICIES, {
        metadata: { name: 'loose', uid: 'uid-loose' },
        spec: { allowedPriorityClassNames: ['high'] },
      });
    });
  });
  afterAll(() => webhook.stop());

  function recorded(reason: string): StoredEvent[] {
    const found: readonly StoredEvent[] = webhook.api.all(EVENTS);
    return found.filter((event) => event.reason === reason);
  }

  async function refuse(more: Record<string, unknown> = {}): Promise<void> {
    const { body } = await webhook.post('/validate', createPodReview(pod(HIGH), more));
    expect(readAnswer(body)).toMatchObject({ allowed: false });
  }

  test('a refusal is recorded on the policy that refused, and a repetition continues the series', async () => {
    for (let attempt = 0; attempt < 3; attempt += 1) await refuse();
    await eventually(
      () =>
        expect(recorded('PolicyViolated')).toMatchObject([
          {
            reportingController: 'plimsoll.dev/webhook',
            regarding: { kind: 'PriorityPolicy', name: 'strict', uid: 'uid-strict' },
            series: { count: 3 },
          },
        ]),
      10_000,
    );
  });

  test('a dry run leaves no Event', async () => {
    await refuse({ dryRun: true, namespace: 'team-a', object: pod(HIGH, { name: 'dry' }) });
    await refuse();
    await eventually(() => expect(recorded('PolicyViolated')[0]?.series?.count).toBe(4), 10_000);
  });

  test('conflicting policies each get an Event', async () => {
    await eventually(() => {
      const conflicting = recorded('PolicyConflict').map(({ regarding }) => regarding?.uid);
      expect(conflicting.sort()).toEqual(['uid-loose', 'uid-strict']);
    }, 10_000);
  });
});
