import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { serviceAccountUser } from '#shared/domain/priority/classes-and-policies.ts';
import { takesQosClass } from '#test/cluster/support/control-plane/binaries.ts';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import { type Answer, at, contractHarness, pod, textAt, uniqueName } from '#test/contract/harness.ts';
import { untilEnforced } from '#test/webhook/no-way-round/until-enforced.ts';
import { collectionPath, workloadKind } from '#test/webhook/support/workloads.ts';
import { asUser } from '#test/cluster/admission/support/as-user.ts';
import { clusterObjects, onlyIn } from '#test/cluster/admission/support/cluster-objects.ts';
import { rulesAlone } from '#test/cluster/admission/support/rules-alone.ts';
import { eventually } from '#test/build/waiting.ts';

const SEED = 20_261_124;
const SHAPES = 1_000;
const NAMESPACES = 40;
const AT_ONCE = 8;
const QOS_CLASSES = ['BestEffort', 'Burstable', 'Guaranteed'];

describe.skipIf(!hasCluster())('round the rules of the API server, without any webhook', () => {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  const names = { gold: '', plain: '', mallory: uniqueName('mallory') };
  const label = uniqueName('tenant');
  rulesAlone(api);

  beforeAll(async () => {
    names.gold = await objects.priorityClass('gold', 1_000);
    names.plain = await objects.priorityClass('plain', 10);
    await objects.policy('here', { namespaceSelector: onlyIn(api), maxPriority: 100 });
    await objects.policy('labelled', { namespaceSelector: { matchLabels: { [label]: 'true' } }, maxPriority: 100 });
    const subjects = [{ kind: 'User', name: names.mallory }];
    await objects.policy('person', { subjects, maxPriority: 100 });
    await objects.administrator(names.mallory);
    await untilEnforced(api);
    await eventually(async () => expectForbidden(await api.post(api.core('pods'), goldPod('probe'))));
  });

  function goldPod(name: string, metadata: object = {}): object {
    return pod(name, { priorityClassName: names.gold }, metadata);
  }

  test('no way of writing a pod gets it the class', async () => {
    const generated = { ...goldPod('x'), metadata: { generateName: 'web-' } };
    expectForbidden(await api.post(api.core('pods'), generated));
    const apply = { query: { fieldManager: 'tenant', force: true } };
    expectForbidden(await api.patch(`${api.core('pods')}/applied`, goldPod('applied'), 'apply', apply));
    expectForbidden(await api.post(api.core('pods'), { kind: 'Pod', apiVersion: 'v1', ...goldPod('again') }));
    const owned = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u', controller: true }];
    expectForbidden(await api.post(api.core('pods'), goldPod('owned', { ownerReferences: owned })));
    const mirror = { 'kubernetes.io/config.mirror': 'x', 'plimsoll.dev/ignore': 'true' };
    const marked = pod(
      'mirror',
      { priorityClassName: names.gold, nodeName: 'n' },
      { annotations: mirror, labels: mirror },
    );
    expectForbidden(await api.post(api.core('pods'), marked));
  });

  test('nor does changing an existing pod, in any part', async () => {
    const name = uniqueName('plain');
    const path = `${api.core('pods')}/${name}`;
    expect((await api.post(api.core('pods'), pod(name, { priorityClassName: names.plain }))).status).toBe(201);
    const raised = { spec: { priorityClassName: names.gold, priority: 1_000 }, status: { qosClass: 'Guaranteed' } };
    for (const part of ['', '/status', '/resize', '/ephemeralcontainers'])
      await api.patch(`${path}${part}`, { ...raised, metadata: { labels: { part: 'x' } } }, 'strategic');
    const { body } = await api.get(path);
    expect([at(body, 'spec.priorityClassName'), at(body, 'spec.priority')]).toEqual([names.plain, 10]);
    await api.remove(path);
  });

  test('nor does changing a workload of a user who may use it, except for changes that create no other pods', async () => {
    const kind = workloadKind('Deployment');
    const name = uniqueName('trusted');
    const { containers } = at(pod('any'), 'spec') as { readonly containers: readonly object[] };
    const written = kind.build(name, { containers, priorityClassName: names.gold });
    const path = `${collectionPath(kind, api.namespace)}/${name}`;
    expect((await api.post(collectionPath(kind, api.namespace), written)).status).toBe(201);
    const mallory = asUser(api.target.connection, names.mallory);
    const template = { metadata: { labels: { more: 'x' } } };
    for (const spec of [{ template }, { template, replicas: 5 }, { template: { spec: { hostNetwork: true } } }]) {
      const { status, body } = await mallory('PATCH', path, { spec });
      expect([status, at(body, 'message')]).toEqual([403, saysRefused()]);
    }
    expect((await mallory('PATCH', path, { metadata: { labels: { more: 'x' } } })).status).toBe(200);
    expect((await mallory('PATCH', `${path}/scale`, { spec: { replicas: 0 } })).status).toBe(200);
    await api.remove(path);
  });

  test('nor does impersonating another user of the namespace', async () => {
    const account = serviceAccountUser({ namespace: api.namespace, name: 'default' });
    await objects.administrator(account);
    for (const user of [account, uniqueName('person')]) {
      const as = asUser(api.target.connection, user, { groups: ['system:masters', 'system:authenticated'] });
      const { status, body } = await as('POST', api.core('pods'), goldPod(uniqueName('as')));
      expect([status, at(body, 'message')]).toEqual([403, saysRefused()]);
    }
  });

  test(`nor does being first in a namespace, in ${NAMESPACES} that are just made`, async () => {
    const numbers = Array.from({ length: NAMESPACES }, () => uniqueName('fresh'));
    const answers = await inFlight(AT_ONCE, numbers, async (name) => {
      const metadata = { name, labels: { [label]: 'true' } };
      expect((await api.post('/api/v1/namespaces', { metadata })).status).toBe(201);
      // The default service account of the namespace is created shortly after.
      const answer = await untilJudged(`/api/v1/namespaces/${name}/pods`);
      await api.remove(`/api/v1/namespaces/${name}`);
      return answer;
    });
    for (const answer of answers) expectForbidden(answer);
  });

  /** Retries until the ServiceAccount plugin, which runs before the webhook, has found the account. */
  async function untilJudged(path: string): Promise<Answer> {
    for (;;) {
      const answer = await api.post(path, goldPod('first'));
      if (!String(at(answer.body, 'message')).includes('serviceaccount')) return answer;
    }
  }

  test(`the QoS class that Kubernetes finds is never refused, and any other is or has no effect, on ${SHAPES} pods (seed ${SEED})`, async () => {
    const counts = { taken: 0, forged: 0 };
    await inFlight(AT_ONCE, fc.sample(shapeArbitrary(), { numRuns: SHAPES, seed: SEED }), async (spec) => {
      const query = { dryRun: 'All' };
      const honest = await api.post(api.core('pods'), pod('web', spec), { query });
      expect([honest.status, at(honest.body, 'message')]).not.toEqual([403, expect.anything()]);
      if (honest.status !== 201) return;
      counts.taken += 1;
      const found = textAt(honest.body, 'status.qosClass');
      const other = QOS_CLASSES[(QOS_CLASSES.indexOf(found) + 1) % QOS_CLASSES.length];
      const forged = await api.post(api.core('pods'), { ...pod('web', spec), status: { qosClass: other } }, { query });
      counts.forged += 1;
      if (!takesQosClass(process.env)) {
        expect([forged.status, at(forged.body, 'status.qosClass')]).toEqual([201, found]);
        return;
      }
      const says = `status.qosClass must be \`${found}\``;
      expect([forged.status, at(forged.body, 'message'), JSON.stringify(spec)]).toEqual([
        403,
        expect.stringContaining(says),
        JSON.stringify(spec),
      ]);
    });
    expect(counts.taken).toBeGreaterThan(SHAPES / 10);
    expect(counts.forged).toBe(counts.taken);
  }, 300_000);

  function expectForbidden({ status, body }: Answer): void {
    expect([status, at(body, 'message')]).toEqual([403, saysRefused()]);
  }

  function saysRefused(): string {
    const sentence = `allows a priority of at most 100 here; priority class \`${names.gold}\` has 1000`;
    return expect.stringContaining(sentence) as string;
  }
});

/** Pods with amounts in every field that determines the QoS class, and in some that do not. */
function shapeArbitrary(): fc.Arbitrary<object> {
  const amounts = fc.record(
    {
      cpu: fc.constantFrom('0', '1', '1000m', '0.5', '1e-3'),
      memory: fc.constantFrom('0', '1Gi', '1024Mi', '1073741824'),
      'ephemeral-storage': fc.constantFrom('1Gi', '0'),
      'hugepages-2Mi': fc.constantFrom('4Mi', '0'),
    },
    { requiredKeys: [] },
  );
  const resources = fc.oneof(
    fc.constant({}),
    fc.record({ requests: amounts, limits: amounts }, { requiredKeys: [] }),
    amounts.map((both) => ({ requests: both, limits: both })),
  );
  const container = fc.option(resources, { nil: undefined });
  return fc
    .record({
      containers: fc.array(container, { minLength: 1, maxLength: 3 }),
      initContainers: fc.array(container, { maxLength: 2 }),
      isSidecar: fc.boolean(),
      ofPod: fc.option(resources, { nil: undefined, freq: 2 }),
    })
    .map(({ containers, initContainers, isSidecar, ofPod }) => ({
      containers: containers.map((each, index) => ({
        name: `c${index}`,
        image: 'i',
        ...(each && { resources: each }),
      })),
      initContainers: initContainers.map((each, index) => ({
        name: `i${index}`,
        image: 'i',
        ...(isSidecar && { restartPolicy: 'Always' }),
        ...(each && { resources: each }),
      })),
      ...(ofPod !== undefined && { resources: ofPod }),
    }));
}
