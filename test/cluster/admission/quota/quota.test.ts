import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import type { WebhookProcess } from '#test/cluster/support/webhook-process.ts';
import { type Answer, at, contractHarness, pod, textAt, uniqueName } from '#test/contract/harness.ts';
import type { Reviewer } from '#test/contract/webhook-receiver.ts';
import { webhookRegistrar } from '#test/contract/webhook-registrar.ts';
import { clusterObjects, onlyIn, PRIORITY_QUOTAS } from '#test/cluster/admission/support/cluster-objects.ts';
import { type PodHistory, podHistory } from './pod-history.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

/** The pause of a client before it retries. */
const AGAIN_AFTER_MS = 200;
const REPLICAS = 3;
const HARD = 100;
const CREATES = 300;
const AT_ONCE = 60;
const SMALL = 4;
/**
 * How long a reservation without a pod is kept: no create here takes longer; in a real cluster it may, so the default
 * is six times that. Replicas take slices from the start.
 */
const SETTINGS = { reservationSeconds: 20, sliceAfterSeconds: 0 };
const HEALED_MS = 180_000;

describe.skipIf(!hasCluster())(`a PriorityQuota with ${REPLICAS} webhook processes`, () => {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  const { processes } = registeredWebhooks(api, { replicas: REPLICAS, settings: SETTINGS });
  const others = webhookRegistrar(api, 'others');
  const classes = { many: '', few: '', sized: '' };
  const quotas = { many: '', few: '', sized: '' };
  let history: PodHistory;

  beforeAll(async () => {
    const labels = { 'plimsoll.dev/priority-quota': 'enforced' };
    await api.patch(`/api/v1/namespaces/${api.namespace}`, { metadata: { labels } }, 'merge');
    classes.many = await objects.priorityClass('many', 10);
    classes.few = await objects.priorityClass('few', 20);
    classes.sized = await objects.priorityClass('sized', 25);
    quotas.many = await quotaOf(classes.many, { pods: String(HARD) });
    quotas.few = await quotaOf(classes.few, { pods: String(SMALL) });
    quotas.sized = await quotaOf(classes.sized, { 'requests.memory': '256Mi' });
    const none = await objects.priorityClass('none', 30);
    await quotaOf(none, { pods: '0' });
    // Every replica knows the last quota when none of them allows a pod any more.
    await eventually(async () => {
      const probes = Array.from({ length: 10 }, () => create({ priorityClassName: none }, { dryRun: 'All' }));
      expect((await Promise.all(probes)).map(({ status }) => status)).toEqual(probes.map(() => 403));
    }, 20_000);
    history = await podHistory(api);
  });

  afterAll(() => history.close());

  function quotaOf(priorityClassName: string, hard: Readonly<Record<string, string>>): Promise<string> {
    return objects.priorityQuota('quota', {
      namespaceSelector: onlyIn(api),
      priorityClassNames: [priorityClassName],
      hard,
    });
  }

  function create(spec: object, query: Record<string, string> = {}, metadata: object = {}): Promise<Answer> {
    return again(() => api.post(api.core('pods'), pod(uniqueName('pod'), spec, metadata), { query }));
  }

  /** Retries after a 429, like every Kubernetes client, or when a busy machine was too slow. */
  async function again(ask: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      const answer = await ask();
      if (answer.status !== 429 && answer.status !== 500) return answer;
      await letTimePass(AGAIN_AFTER_MS, 'load');
    }
  }

  function createMany(count: number): Promise<Answer[]> {
    return inFlight(AT_ONCE, Array(count).keys(), () => create({ priorityClassName: classes.many }));
  }

  async function usedOf(quota: string): Promise<unknown> {
    return at((await api.get(`${PRIORITY_QUOTAS}/${quota}`)).body, 'status.used');
  }

  async function used(quota: string): Promise<number> {
    return Number(at(await usedOf(quota), 'pods'));
  }

  async function podsOf(priorityClassName: string): Promise<readonly string[]> {
    const items = at((await api.get(api.core('pods'))).body, 'items') as readonly unknown[];
    return items.filter((item) => at(item, 'spec.priorityClassName') === priorityClassName).map(nameOf);
  }

  test('a dry run charges nothing', async () => {
    const dry = Array.from({ length: 3 * SMALL }, () => create({ priorityClassName: classes.few }, { dryRun: 'All' }));
    expect((await Promise.all(dry)).map(({ status }) => status)).toEqual(dry.map(() => 201));
    expect(await used(quotas.few)).toBe(0);
  });

  test('a pod whose generated name was taken and generated again is never charged too little', async () => {
    const labels = { collides: 'yes' };
    let collisions = 2;
    const reviewer: Reviewer = async (request) => {
      if ((collisions -= 1) >= 0) await api.post(api.core('pods'), pod(textAt(request, 'name')));
      return { allowed: true };
    };
    await others.register('validating', { path: '/collide', reviewer, objectSelector: { matchLabels: labels } });
    const generated = { name: undefined, generateName: 'again-', labels };
    const { status } = await create({ priorityClassName: classes.few }, {}, generated);
    expect([status, others.receiver().received.length]).toEqual([201, 3]);
    expect(await podsOf(classes.few)).toHaveLength(1);
    const more = await Promise.all(Array.from({ length: SMALL }, () => create({ priorityClassName: classes.few })));
    const there = 1 + more.filter((answer) => answer.status === 201).length;
    expect([await podsOf(classes.few), there <= SMALL]).toEqual([expect.objectContaining({ length: there }), true]);
    expect(await used(quotas.few)).toBeGreaterThanOrEqual(there);
  });

  test(
    'charges the resize of a pod with its growth alone, and refuses what does not fit',
    { timeout: HEALED_MS },
    async () => {
      const { status, body } = await create({ priorityClassName: classes.sized, containers: [sized('64Mi')] });
      const resize = (memory: string): Promise<Answer> =>
        again(() =>
          api.patch(
            api.core(`pods/${textAt(body, 'metadata.name')}/resize`),
            { spec: { containers: [sized(memory)] } },
            'strategic',
          ),
        );
      expect([status, (await resize('256Mi')).status, (await resize('128Mi')).status]).toEqual([201, 200, 200]);
      const refused = await resize('320Mi');
      expect([refused.status, at(refused.body, 'message')]).toEqual([
        403,
        expect.stringMatching(
          /^admission webhook "quota\.plimsoll\.dev" denied the request: exceeded quota: \S+, requested: requests\.memory=\d+Mi, used: requests\.memory=\d+Mi, limited: requests\.memory=256Mi; quota `\S+` over all its namespaces: `requests\.memory` is limited to 256Mi;/,
        ),
      ]);
      await eventually(
        async () => expect(await usedOf(quotas.sized)).toEqual({ 'requests.memory': '128Mi' }),
        HEALED_MS,
      );
    },
  );

  test(
    `never allows more than ${HARD} of ${CREATES} concurrent pods, on any replica`,
    { timeout: HEALED_MS },
    async () => {
      const answers = await createMany(CREATES);
      const refused = answers.filter(({ status }) => status === 403);
      expect(answers.filter(({ status }) => status !== 403 && status !== 201)).toEqual([]);
      expect(refused.length).toBeGreaterThanOrEqual(CREATES - HARD);
      for (const { body } of refused)
        expect(at(body, 'message')).toContain(
          `quota \`${quotas.many}\` over all its namespaces: \`pods\` is limited to`,
        );
      expect((await podsOf(classes.many)).length).toBeLessThanOrEqual(HARD);
      expect(await Promise.all(processes.map(hasBeenAsked))).toEqual(processes.map(() => true));
    },
  );

  test('reuses freed room', { timeout: HEALED_MS }, async () => {
    const ended = (await podsOf(classes.many)).slice(0, HARD / 2);
    const ends = inFlight(AT_ONCE, ended, (name) => api.remove(api.core(`pods/${name}`)));
    const [answers] = await Promise.all([createMany(HARD), ends]);
    expect(answers.filter(({ status }) => status === 201)).not.toEqual([]);
  });

  test('was never exceeded, not for a moment', async () => {
    expect(await history.mostAtOnce(classes.many)).toBeLessThanOrEqual(HARD);
    expect(await history.mostAtOnce(classes.few)).toBeLessThanOrEqual(SMALL);
  });

  test(`in the end used is correct and exactly ${HARD} pods exist`, { timeout: 2 * HEALED_MS }, async () => {
    // If the API server gave up on a reserved pod, or its name was taken, the room becomes free only later.
    await eventually(async () => {
      await create({ priorityClassName: classes.many });
      const there = [await podsOf(classes.many), await podsOf(classes.few)].map(({ length }) => length);
      expect([await used(quotas.many), await used(quotas.few), there[0]]).toEqual([...there, HARD]);
    }, HEALED_MS);
    expect((await create({ priorityClassName: classes.many })).status).toBe(403);
  });
});

function sized(memory: string): object {
  return { name: 'main', image: 'registry.test/idle:1', resources: { requests: { memory } } };
}

function nameOf(item: unknown): string {
  return textAt(item, 'metadata.name');
}

async function hasBeenAsked(webhook: WebhookProcess): Promise<boolean> {
  return (await webhook.metrics()).includes('plimsoll_webhook_requests_total{webhook="/validate/quota"');
}
