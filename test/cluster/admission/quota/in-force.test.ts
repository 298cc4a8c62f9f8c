import { beforeAll, describe, expect, test } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { at, contractHarness, pod, uniqueName } from '#test/contract/harness.ts';
import { clusterObjects, onlyIn, PRIORITY_QUOTAS } from '#test/cluster/admission/support/cluster-objects.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';
import { eventually } from '#test/build/waiting.ts';

const LABEL = 'plimsoll.dev/priority-quota';
/** Conditions are written every ten to twenty seconds. */
const PATIENCE_MS = 45_000;

/** A PriorityQuota always selects the namespace; only labels decide whether it is enforced there. */
describe.skipIf(!hasCluster())('a PriorityQuota and the labels that put it in force', () => {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  registeredWebhooks(api);
  const names = { high: '', quota: '' };

  beforeAll(async () => {
    names.high = await objects.priorityClass('high', 1_000);
    await objects.policy('covered', { namespaceSelector: onlyIn(api), requireQuotaFor: [names.high] });
    const spec = { namespaceSelector: onlyIn(api), priorityClassNames: [names.high], hard: { pods: '100' } };
    names.quota = await objects.priorityQuota('wide', spec);
  });

  async function label(labels: Readonly<Record<string, string | null>>): Promise<void> {
    expect((await api.patch(`/api/v1/namespaces/${api.namespace}`, { metadata: { labels } }, 'merge')).status).toBe(
      200,
    );
  }

  async function asked(): Promise<readonly [status: number, message: unknown]> {
    const wanted = pod(uniqueName('pod'), { priorityClassName: names.high });
    const { status, body } = await api.post(api.core('pods'), wanted, { query: { dryRun: 'All' } });
    return [status, at(body, 'message')];
  }

  async function readiness(): Promise<unknown> {
    const { body } = await api.get(`${PRIORITY_QUOTAS}/${names.quota}`);
    return [at(body, 'status.conditions.0.status'), at(body, 'status.conditions.0.message')];
  }

  const refused = (): unknown => [
    403,
    expect.stringMatching(/^(?!admission webhook).*only where a quota covers it, but this namespace has no label/),
  ];

  test('does not cover a class that requires a quota without the label, and reports it', async () => {
    await eventually(async () => expect(await asked()).toEqual(refused()));
    const text = `Not enforced where label ${LABEL}=enforced is missing: ${api.namespace}`;
    await eventually(async () => expect(await readiness()).toEqual(['False', text]), PATIENCE_MS);
  });

  test('covers the class with the label, and is ready', async () => {
    await label({ [LABEL]: 'enforced' });
    await eventually(async () => expect(await asked()).toEqual([201, undefined]));
    const text = 'Enforced in all selected namespaces';
    await eventually(async () => expect(await readiness()).toEqual(['True', text]), PATIENCE_MS);
  });

  test('refuses a pod that does not state what it limits, in the words of a ResourceQuota', async () => {
    const sized = await objects.priorityClass('sized', 500);
    const spec = { namespaceSelector: onlyIn(api), priorityClassNames: [sized], hard: { 'requests.memory': '1Gi' } };
    const quota = await objects.priorityQuota('sized', spec);
    const create = async (resources: object): Promise<readonly [number, unknown]> => {
      const containers = [{ name: 'main', image: 'x', resources }];
      const wanted = pod(uniqueName('pod'), { priorityClassName: sized, containers });
      const { status, body } = await api.post(api.core('pods'), wanted);
      return [status, at(body, 'message')];
    };
    const refusal = [403, expect.stringContaining(`failed quota: ${quota}: must specify requests.memory for: main`)];
    await eventually(async () => expect(await create({})).toEqual(refusal));
    const answers = await Promise.all(Array.from({ length: 25 }, () => create({ requests: { cpu: '1m' } })));
    for (const answer of answers) expect(answer).toEqual(refusal);
    expect(await create({ requests: { memory: '1Mi' } })).toEqual([201, undefined]);
  });

  test('is not ready any more once the ignore label is set as well', async () => {
    await label({ 'plimsoll.dev/ignore': 'true' });
    const text = `Not enforced where label plimsoll.dev/ignore=true is set: ${api.namespace}`;
    await eventually(async () => expect(await readiness()).toEqual(['False', text]), PATIENCE_MS);
  });
});
