import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiDouble } from '#test/fakes/api-double.ts';
import type { StoredObject } from '#test/fakes/stored-objects.ts';
import { createPodReview, pod, readAnswer, type Answer } from './support/reviews.ts';
import { CLASSES, NAMESPACES, PODS, QUOTAS, runWebhook, type RunningWebhook } from './support/webhook-process.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { PHRASES } from '#shared/domain/admission/messages/priority-messages.ts';
import { ANY_NUMBER, patternOf } from '#test/build/pattern-of.ts';

const HIGH = { priorityClassName: 'high', priority: 1_000, preemptionPolicy: 'PreemptLowerPriority' };
const STANDARD = { priorityClassName: 'standard', priority: 100, preemptionPolicy: 'PreemptLowerPriority' };

/** In the words of the API server. */
const UNHEARD = 'pods "web" is forbidden: no PriorityClass with name unheard was found';

function priorityClass(name: string, value: number, more: object = {}) {
  return { metadata: { name }, value, preemptionPolicy: 'PreemptLowerPriority', ...more };
}

function prepare(api: ApiDouble): void {
  api.put(NAMESPACES, { metadata: { name: 'team-a', labels: { 'kubernetes.io/metadata.name': 'team-a' } } });
  api.put(CLASSES, priorityClass('high', 1_000));
  api.put(CLASSES, priorityClass('standard', 100, { globalDefault: true }));
  for (const [name, spec] of [
    ['db', HIGH],
    ['job', STANDARD],
  ] as const)
    api.put(PODS, pod(spec, { name, labels: { app: name } }) as StoredObject);
  api.put(QUOTAS, {
    metadata: { name: 'high-tier', namespace: 'team-a' },
    spec: { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] } },
    status: { hard: { 'requests.memory': '8Gi' }, used: { 'requests.memory': '7680Mi' } },
  });
}

describe('the webhook', () => {
  let webhook: RunningWebhook;
  beforeAll(async () => (webhook = await runWebhook(prepare)));
  afterAll(() => webhook.stop());

  async function ask(path: string, spec: Record<string, unknown>): Promise<Answer> {
    const { status, body } = await webhook.post(path, createPodReview(pod(spec)));
    expect(status).toBe(200);
    return readAnswer(body);
  }

  test('sets class, number and policy of a pod that names none', async () => {
    expect(await ask('/mutate', {})).toMatchObject({
      allowed: true,
      patch: [
        { op: 'add', path: '/spec/priorityClassName', value: 'standard' },
        { op: 'add', path: '/spec/priority', value: 100 },
        { op: 'add', path: '/spec/preemptionPolicy', value: 'PreemptLowerPriority' },
      ],
    });
  });

  test('changes nothing about a pod that is complete', async () => {
    expect(await ask('/mutate', HIGH)).toMatchObject({ allowed: true, patch: undefined });
  });

  test('refuses an unknown class', async () => {
    expect(await ask('/mutate', { priorityClassName: 'gold' })).toMatchObject({
      allowed: false,
      code: 403,
      message: 'pods "web" is forbidden: no PriorityClass with name gold was found',
    });
  });

  test('refuses a number that is not the class’s', async () => {
    const answer = await ask('/validate', { ...HIGH, priority: 4_242 });
    expect(answer.message).toContain('the integer value of priority (4242) must not be provided in pod spec');
    expect(answer).toMatchObject({ allowed: false, code: 403 });
  });

  test('refuses what exceeds the quota of its class, saying what is used, asked and allowed, and who holds it', async () => {
    expect(await ask('/validate', HIGH)).toMatchObject({
      allowed: false,
      code: 403,
      message: MESSAGES.quotaExceeded.text({
        priorityClassName: 'high',
        quota: 'high-tier',
        where: 'in namespace `team-a`',
        resource: 'requests.memory',
        hard: '8Gi',
        used: '7.5Gi',
        asked: '1Gi',
        free: '512Mi',
        others: [],
        amounts: [{ resource: 'requests.memory', asked: '1Gi', used: '7680Mi', hard: '8Gi' }],
        holders: [PHRASES.largestPods('`db` (1Gi)')],
      }),
    });
  });

  test('does not refuse for a quota that is full in its cache alone', async () => {
    webhook.api.forget(QUOTAS, 'team-a/high-tier');
    expect(await ask('/validate', HIGH)).toMatchObject({ allowed: true });
  });

  test('warns of required affinity to pods of lower priority', async () => {
    const required = [{ topologyKey: 'zone', labelSelector: { matchLabels: { app: 'job' } } }];
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
    const answer = await ask('/validate', { ...HIGH, affinity });
    expect(answer).toMatchObject({ allowed: true, warnings: [expect.stringContaining('`job` (100)')] });
  });

  test('warns of an annotation that does not count', async () => {
    const annotated = pod(HIGH, { annotations: { 'plimsoll.dev/evict': 'Never' } });
    const { body } = await webhook.post('/validate', createPodReview(annotated));
    expect(readAnswer(body)).toMatchObject({
      allowed: true,
      warnings: [expect.stringContaining('is `Never` and counts as absent')],
    });
  });

  test('looks at the API server itself before it refuses for a class it has not heard of', async () => {
    webhook.api.put(CLASSES, priorityClass('fresh', 7));
    expect(await ask('/mutate', { priorityClassName: 'fresh' })).toMatchObject({ allowed: true });
  });

  test('a refusal that cannot be confirmed stands, and says how old its data is', async () => {
    webhook.api.failing = 500;
    const refused = await ask('/mutate', { priorityClassName: 'unheard' });
    webhook.api.failing = undefined;
    expect(refused).toMatchObject({
      allowed: false,
      code: 403,
      message: expect.stringMatching(
        patternOf((cause) => `${UNHEARD}; ${PHRASES.unconfirmed(ANY_NUMBER, `cannot list ${cause}`)}`),
      ) as string,
    });
  });

  test('nothing is let into a namespace that is not known and cannot be read', async () => {
    webhook.api.failing = 500;
    const { status, body } = await webhook.post(
      '/mutate',
      createPodReview(pod({}, { namespace: 'unknown' }), { namespace: 'unknown' }),
    );
    webhook.api.failing = undefined;
    expect({ status, ...readAnswer(body) }).toMatchObject({ status: 200, allowed: false, code: 429 });
  });

  test('registers itself with its authority and address', () => {
    const configuration = webhook.api.get(
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
      'plimsoll',
    );
    const entries = configuration?.['webhooks'] as { name: string; clientConfig: { url: string } }[];
    expect(entries.map(({ name, clientConfig }) => [name, clientConfig.url])).toEqual([
      ['priority.plimsoll.dev', `https://127.0.0.1:${webhook.port}/validate`],
      ['quota.plimsoll.dev', `https://127.0.0.1:${webhook.port}/validate/quota`],
      ['managed.quota.plimsoll.dev', `https://127.0.0.1:${webhook.port}/validate/quota`],
      ['templates.plimsoll.dev', `https://127.0.0.1:${webhook.port}/validate/templates`],
      ['classes.plimsoll.dev', `https://127.0.0.1:${webhook.port}/validate/classes`],
      ['evictions.plimsoll.dev', `https://127.0.0.1:${webhook.port}/validate/evictions`],
      ['own-evictions.plimsoll.dev', `https://127.0.0.1:${webhook.port}/validate/evictions`],
      ['deletions.plimsoll.dev', `https://127.0.0.1:${webhook.port}/validate/deletions`],
      ['limited-evictions.plimsoll.dev', `https://127.0.0.1:${webhook.port}/validate/disruption-limits`],
      ['managed.limited-evictions.plimsoll.dev', `https://127.0.0.1:${webhook.port}/validate/disruption-limits`],
      ['limited-deletions.plimsoll.dev', `https://127.0.0.1:${webhook.port}/validate/limited-deletions`],
      ['managed.limited-deletions.plimsoll.dev', `https://127.0.0.1:${webhook.port}/validate/limited-deletions`],
    ]);
  });

  test('writes its decision with its numbers to the audit log', async () => {
    const { body } = await webhook.post('/validate', createPodReview(pod({ ...HIGH, priority: 5 })));
    const { response } = JSON.parse(body) as { response: object };
    expect(response).toMatchObject({
      auditAnnotations: { decision: 'PriorityMismatch', because: expect.stringContaining('5') as string },
    });
  });

  test('counts what it answered', async () => {
    const text = await (await fetch(`${webhook.healthUrl}/metrics`)).text();
    expect(text).toMatch(/plimsoll_webhook_requests_total\{webhook="\/validate",code="200"\} \d+/);
    expect(text).toMatch(/plimsoll_webhook_decisions_total\{webhook="\/validate",reason="QuotaExceeded"\} \d+/);
  });
});

describe('the webhook in dry run', () => {
  test('lets in what it would refuse, and says so', async () => {
    const webhook = await runWebhook(prepare, { mode: 'DryRun' });
    const { body } = await webhook.post('/validate', createPodReview(pod(HIGH)));
    expect(await webhook.stop()).toBe(0);
    const { allowed, warnings } = readAnswer(body);
    expect({ allowed, start: warnings[0]?.slice(0, 35) }).toEqual({
      allowed: true,
      start: '(dry run) exceeded quota: high-tier',
    });
  });
});
