import { beforeAll, describe, expect, test } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { at, contractHarness, pod, uniqueName } from '#test/contract/harness.ts';
import { clusterObjects, onlyIn } from '#test/cluster/admission/support/cluster-objects.ts';
import { rulesAlone } from '#test/cluster/admission/support/rules-alone.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import { eventually } from '#test/build/waiting.ts';

const LABEL = 'plimsoll.dev/priority-quota';
const PARALLEL = 220;
const AT_ONCE = 55;
/** The API server writes each of these characters as six. */
const LARGE = '<'.repeat(100_000);
const PATIENCE_MS = 30_000;
const DRY_RUN = { dryRun: 'All' };

/** The webhook compiles the rules and is asked nothing: what is refused here, no tenant can get in by making it late. */
describe.skipIf(!hasCluster())('while no webhook answers, the API server itself refuses', () => {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  rulesAlone(api);
  const names = { high: '', low: '', policy: '', quota: '' };

  beforeAll(async () => {
    names.high = await objects.priorityClass('high', 1_000);
    names.low = await objects.priorityClass('low', 10);
  });

  async function create(spec: object, metadata: object = {}, query = {}): Promise<readonly [number, unknown]> {
    const name = uniqueName('pod');
    const wanted = { ...pod(name, spec), metadata: { name, ...metadata } };
    const { status, body } = await api.post(api.core('pods'), wanted, { query });
    return [status, at(body, 'message')];
  }

  async function label(value: string | null): Promise<void> {
    const patch = { metadata: { labels: { [LABEL]: value } } };
    expect((await api.patch(`/api/v1/namespaces/${api.namespace}`, patch, 'merge')).status).toBe(200);
  }

  test(`all of ${PARALLEL} large pods of a class that requires a quota, without the label`, async () => {
    names.policy = await objects.policy('covered', { namespaceSelector: onlyIn(api), requireQuotaFor: [names.high] });
    const refusal = [403, expect.stringContaining(`this namespace has no label ${LABEL}=enforced`)];
    await eventually(
      async () => expect(await create({ priorityClassName: names.high }, {}, DRY_RUN)).toEqual(refusal),
      PATIENCE_MS,
    );
    const all = Array.from({ length: PARALLEL }, (_, index) => index);
    const answers = await inFlight(AT_ONCE, all, () =>
      create({ priorityClassName: names.high }, { annotations: { large: LARGE } }),
    );
    expect(answers.filter(([status]) => status === 201)).toEqual([]);
    const { body } = await api.get(api.core('pods'));
    const stored = (at(body, 'items') as readonly object[]).filter(
      (each) => at(each, 'spec.priorityClassName') === names.high,
    );
    expect(stored).toEqual([]);
    expect(await create({ priorityClassName: names.low })).toEqual([201, undefined]);
  });

  test('a pod that did not get the default of a policy, and no pod that names its class', async () => {
    const spec = { namespaceSelector: onlyIn(api), defaultPriorityClassName: names.low };
    const policy = await objects.policy('default', spec);
    const refusal = [
      403,
      expect.stringContaining(`policy \`${policy}\` gives pods here priority class \`${names.low}\``),
    ];
    await eventually(async () => expect(await create({})).toEqual(refusal), PATIENCE_MS);
    expect(await create({ priorityClassName: names.low })).toEqual([201, undefined]);
  });

  test('the pods of a quota that requires its label, until the namespace has it', async () => {
    const medium = await objects.priorityClass('medium', 100);
    const quota = {
      namespaceSelector: onlyIn(api),
      priorityClassNames: [medium],
      hard: { pods: '1' },
      requireLabel: true,
    };
    const name = await objects.priorityQuota('wide', quota);
    const refusal = [403, expect.stringContaining(`quota \`${name}\` counts priority class \`${medium}\` here`)];
    await eventually(async () => expect(await create({ priorityClassName: medium })).toEqual(refusal), PATIENCE_MS);
    await label('enforced');
    await eventually(
      async () => expect(await create({ priorityClassName: medium })).toEqual([201, undefined]),
      PATIENCE_MS,
    );
  });
});
