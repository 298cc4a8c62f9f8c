import { beforeAll, describe, expect, test } from 'vitest';
import { takesQosClass } from '#test/cluster/support/control-plane/binaries.ts';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { at, contractHarness, pod, uniqueName } from '#test/contract/harness.ts';
import { ADMISSION } from '#test/contract/webhook-registrar.ts';
import {
  registeredWebhooks,
  slowPod,
  untilAsked,
  wasAsked,
} from '#test/cluster/admission/support/registered-webhooks.ts';
import { clusterObjects, onlyIn } from '#test/cluster/admission/support/cluster-objects.ts';
import { ceilingOf, refusedPod, untilRulesInForce } from '#test/cluster/admission/support/rules-in-force.ts';
import { eventually } from '#test/build/waiting.ts';

/** In the answer of an API server that refuses a pod alone. */
const BY_RULES = takesQosClass(process.env)
  ? 'denied request: status.qosClass must be `BestEffort`'
  : 'allows a priority of at most 1999999999 here';
const CONFIGURATION = `${ADMISSION}/validatingwebhookconfigurations/plimsoll`;

describe.skipIf(!hasCluster())('while no webhook answers', () => {
  const api = contractHarness(clusterTarget());
  const webhooks = registeredWebhooks(api);
  const objects = clusterObjects(api);
  const pods = (): string => api.core('pods');

  beforeAll(async () => {
    await objects.askedAlways(onlyIn(api));
    await objects.policy('ceiling', ceilingOf(api));
  });

  test('pods are allowed with failure policy Ignore, checked by the API server alone, and later by both', async () => {
    expect(wasAsked(await api.post(pods(), slowPod(uniqueName('slow'))))).toBe(true);
    await untilRulesInForce(api);
    await webhooks.kill();
    const answer = await api.post(pods(), slowPod(uniqueName('slow')));
    expect([answer.status, wasAsked(answer)]).toEqual([201, false]);
    const refused = await api.post(pods(), refusedPod(uniqueName('refused')));
    expect([refused.status, at(refused.body, 'message')]).toEqual([403, expect.stringContaining(BY_RULES)]);
    await webhooks.start();
    await untilAsked(api);
  });

  test('no pod is created where quotas are enforced, which fail closed (T-63)', async () => {
    const label = async (value: string | null): Promise<void> => {
      const patch = { metadata: { labels: { 'plimsoll.dev/priority-quota': value } } };
      expect((await api.patch(`/api/v1/namespaces/${api.namespace}`, patch, 'merge')).status).toBe(200);
    };
    const create = async (): Promise<unknown> => {
      const { status, body } = await api.post(pods(), pod(uniqueName('counted')));
      return [status, at(body, 'message')];
    };
    await label('enforced');
    await eventually(async () => expect(await create()).toEqual([201, undefined]));
    await webhooks.kill();
    const refused = [500, expect.stringContaining('failed calling webhook "quota.plimsoll.dev"')];
    await eventually(async () => expect(await create()).toEqual(refused));
    await webhooks.start();
    await eventually(async () => expect(await create()).toEqual([201, undefined]));
    await label(null);
    await untilAsked(api);
  });

  test('nothing gets in with failure policy Fail', async () => {
    const { body } = await api.get(CONFIGURATION);
    const entries = at(body, 'webhooks') as readonly unknown[];
    const operations = entries.map((_, n) => ({ op: 'replace', path: `/webhooks/${n}/failurePolicy`, value: 'Fail' }));
    expect((await api.patch(CONFIGURATION, operations, 'json')).status).toBe(200);
    await webhooks.kill();
    await eventually(async () => {
      const { status, body } = await api.post(pods(), slowPod(uniqueName('late')));
      expect([status, at(body, 'message')]).toEqual([
        500,
        expect.stringContaining('failed calling webhook "priority.plimsoll.dev"'),
      ]);
    });
  });

  test('the API server shows users the registered path, so that it cannot be a secret', async () => {
    const { body } = await api.post(pods(), slowPod(uniqueName('shown')));
    expect(at(body, 'message')).toMatch(/failed to call webhook: Post "https:\/\/[^"]*\/validate\b[^"]*"/);
  });
});
