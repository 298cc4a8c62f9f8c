import { beforeAll, describe, expect, test } from 'vitest';
import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';
import { defaultPolicy } from '#shared/kube/admission/default-policy.ts';
import { recordPolicy } from '#tools/policies/record-policy.ts';
import { ANNOTATION_CLASS_RULE } from '#shared/kube/api-names.ts';
import { servesMutatingPolicies } from '#test/cluster/support/control-plane/binaries.ts';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { at, contractHarness, pod, uniqueName } from '#test/contract/harness.ts';
import { clusterObjects, onlyIn, POLICIES } from '#test/cluster/admission/support/cluster-objects.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';
import { rulesAlone } from '#test/cluster/admission/support/rules-alone.ts';
import { eventually } from '#test/build/waiting.ts';
import { collectionPath, workloadKind } from '#test/webhook/support/workloads.ts';

const PATIENCE_MS = 30_000;
const RULE_POLICIES = [...rulePolicies(), ...recordPolicy()];
const RULE = { name: 'r', ownerKinds: ['Job'], priorityClassName: 'any' };

describe.skipIf(!hasCluster() || !servesMutatingPolicies(process.env))(
  'the API server alone, without a webhook',
  () => {
    givesByRule((api) => rulesAlone(api, { policies: [...RULE_POLICIES, ...defaultPolicy()] }));
  },
);

describe.skipIf(!hasCluster())('the webhook, without the policy that gives defaults', () => {
  givesByRule((api) => registeredWebhooks(api, { policies: RULE_POLICIES }));
});

function givesByRule(install: (api: ReturnType<typeof contractHarness>) => void): void {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  install(api);
  const names = { high: '', low: '', jobs: '', policy: '' };

  beforeAll(async () => {
    names.high = await objects.priorityClass('high', 1_000);
    names.low = await objects.priorityClass('low', 10);
    names.jobs = await objects.priorityClass('jobs', -5);
    names.policy = await objects.policy('ruled', {
      namespaceSelector: onlyIn(api),
      maxPriority: 500,
      defaultPriorityClassName: names.low,
      classRules: [
        { name: 'jobs', ownerKinds: ['Job'], priorityClassName: names.jobs },
        { name: 'daemons', ownerKinds: ['DaemonSet'], priorityClassName: names.high },
        { name: 'front', podSelector: { matchLabels: { role: 'front' } }, priorityClassName: names.jobs },
      ],
    });
    await eventually(async () => expect(await given({})).toEqual([names.low, names.policy]), PATIENCE_MS);
  }, 90_000);

  /** The class and the recorded rule as stored, or why the pod is refused. */
  async function given(metadata: object, spec: object = {}): Promise<unknown> {
    const object = pod(uniqueName('pod'), spec, metadata);
    const { status, body } = await api.post(api.core('pods'), object, { query: { dryRun: 'All' } });
    return status === 201 ? givenTo(body) : at(body, 'message');
  }

  function givenTo(stored: unknown): readonly unknown[] {
    const annotations = at(stored, 'metadata.annotations') as Readonly<Record<string, string>> | undefined;
    return [at(stored, 'spec.priorityClassName'), annotations?.[ANNOTATION_CLASS_RULE]];
  }

  function ownedBy(kind: string): object {
    return { ownerReferences: [{ apiVersion: 'v1', kind, name: 'made-up', uid: 'u', controller: true }] };
  }

  function recorded(rule: string): object {
    return { annotations: { [ANNOTATION_CLASS_RULE]: rule } };
  }

  test('the class of the first rule that takes the pod, and records the rule: by owner, labels, namespace (S3-9)', async () => {
    const rule = (name: string) => `${names.policy}/${name}`;
    expect(await given({ labels: { role: 'front' } })).toEqual([names.jobs, rule('front')]);
    expect(await given({ ...ownedBy('Job'), labels: { role: 'front' } })).toEqual([names.jobs, rule('jobs')]);
    expect(await given(ownedBy('ReplicaSet'))).toEqual([names.low, names.policy]);
    expect(await given({ labels: { role: 'front' } }, { priorityClassName: names.low })).toEqual([
      names.low,
      undefined,
    ]);
  });

  test('the class of its rule to the pod that the Job controller creates', async () => {
    const job = workloadKind('Job');
    const { containers } = at(pod('any'), 'spec') as { readonly containers: readonly object[] };
    const written = await api.post(collectionPath(job, api.namespace), job.build(uniqueName('job'), { containers }));
    expect(written.status).toBe(201);
    const name = String(at(written.body, 'metadata.name'));
    await eventually(async () => {
      const { body } = await api.get(api.core('pods'), { query: { labelSelector: `job-name=${name}` } });
      expect((at(body, 'items') as readonly unknown[]).map(givenTo)).toEqual([[names.jobs, `${names.policy}/jobs`]]);
    }, PATIENCE_MS);
    await api.remove(`${collectionPath(job, api.namespace)}/${name}`);
  });

  test('no class above the ceiling to a pod with an owner that a tenant made up', async () => {
    const tooHigh = `policy \`${names.policy}\` allows a priority of at most 500 here; priority class \`${names.high}\` has 1000`;
    expect(await given(ownedBy('DaemonSet'))).toContain(tooHigh);
    expect(await given({}, { priorityClassName: names.high })).toContain(tooHigh);
  });

  test('and takes off or replaces a record that a person wrote', async () => {
    expect(await given(recorded('forged'))).toEqual([names.low, names.policy]);
    expect(await given(recorded(`${names.policy}/jobs`), { priorityClassName: names.jobs })).toEqual([
      names.jobs,
      undefined,
    ]);
  });

  test('a record that is changed later is refused', async () => {
    const name = uniqueName('stored');
    const path = api.core(`pods/${name}`);
    expect(givenTo((await api.post(api.core('pods'), pod(name))).body)).toEqual([names.low, names.policy]);
    const change = (rule: string | null) =>
      api.patch(path, { metadata: { annotations: { [ANNOTATION_CLASS_RULE]: rule } } }, 'merge');
    await eventually(async () => {
      const { status, body } = await change('forged');
      const message = `the annotation ${ANNOTATION_CLASS_RULE} must not be changed`;
      expect([status, at(body, 'message')]).toEqual([403, expect.stringContaining(message)]);
    }, PATIENCE_MS);
    expect((await api.patch(path, { metadata: { labels: { other: 'label' } } }, 'merge')).status).toBe(200);
    expect((await change(null)).status).toBe(200);
    await api.remove(path);
  });

  /** A container with these requests and limits, and the answer to its pod. */
  function withRequests(
    requests: object,
    limits: object,
    spec: object = {},
  ): Promise<Awaited<ReturnType<typeof api.post>>> {
    const containers = [
      { name: 'main', image: 'i', resources: { requests, limits } },
      { name: 'bare', image: 'i' },
    ];
    return api.post(api.core('pods'), pod(uniqueName('lent'), { ...spec, containers }));
  }

  const LENT = { 'plimsoll.dev/spare-cpu': '250', 'plimsoll.dev/spare-memory': '67108864' };

  test('spare room to the pods of a class that a policy sends there, and to nobody else', async () => {
    const asked = [
      { cpu: '250m', memory: '64Mi' },
      { cpu: '1', memory: '128Mi' },
    ] as const;
    const sent = { priorityClassName: names.jobs };
    expect((await withRequests(LENT, LENT, sent)).body).toMatchObject({
      code: 403,
      message: expect.stringContaining('only where a PriorityPolicy with runOn grants spare room') as string,
    });
    await objects.policy('lent', {
      namespaceSelector: onlyIn(api),
      runOn: 'Spare',
      sparePriorityClassNames: [names.jobs],
    });
    const zeros = { cpu: '0', memory: '0' };
    await eventually(async () => {
      const { status, body } = await withRequests(...asked, sent);
      expect([status, at(body, 'spec.containers')]).toMatchObject([
        201,
        [
          { resources: { requests: { ...zeros, ...LENT }, limits: { ...asked[1], ...LENT } } },
          { resources: { requests: zeros } },
        ],
      ]);
      expect(at(body, 'metadata.annotations')).toMatchObject({
        'plimsoll.dev/requested': '{"main":{"cpu":"250m","memory":"64Mi"}}',
      });
      const resize = { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] } };
      const path = api.core(`pods/${String(at(body, 'metadata.name'))}`);
      const resized = await api.patch(`${path}/resize`, resize, 'strategic');
      await api.remove(path);
      expect([resized.status, at(resized.body, 'message')]).toEqual([
        403,
        expect.stringContaining('must request no cpu'),
      ]);
    }, PATIENCE_MS);
    const unasking = await withRequests({ memory: '0' }, { memory: '128Mi' }, sent);
    const taking = { spec: { containers: [{ name: 'main', resources: { requests: { memory: '64Mi' } } }] } };
    const taken = await api.patch(
      api.core(`pods/${String(at(unasking.body, 'metadata.name'))}/resize`),
      taking,
      'strategic',
    );
    expect([unasking.status, taken.status, at(taken.body, 'message')]).toEqual([
      201,
      403,
      expect.stringContaining('a resize must not add requests of cpu or memory'),
    ]);
    const others = await withRequests(...asked, { priorityClassName: names.low });
    expect(at(others.body, 'spec.containers')).toMatchObject([{ resources: { requests: asked[0] } }, {}]);
    expect((await withRequests(LENT, LENT, { priorityClassName: names.low })).status).toBe(403);
    const both = await withRequests({ ...LENT, cpu: '1' }, LENT, sent);
    expect([both.status, at(both.body, 'message')]).toEqual([403, expect.stringContaining('must request no cpu')]);
  });

  test.each<[object, string]>([
    [
      { sparePriorityClassNames: ['c'] },
      'spec: Invalid value: sparePriorityClassNames must be used with runOn Spare or Either only',
    ],
    [
      { classRules: [{ name: 'r', priorityClassName: 'c' }] },
      'spec.classRules[0]: Invalid value: must set podSelector or ownerKinds',
    ],
    [{ classRules: [RULE, RULE] }, 'spec.classRules: Invalid value: each rule must have a name of its own'],
    [
      { classRules: [{ ...RULE, ownerKinds: ['Deployment'] }] },
      'spec.classRules[0].ownerKinds: Invalid value: must not contain Deployment',
    ],
    [
      { classRules: [RULE], allowedPriorityClassNames: ['c'] },
      'priorityClassName of each of classRules must be one of',
    ],
  ])('a bad rule is refused, and the message names its field: %j', async (spec, message) => {
    const object = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'PriorityPolicy', metadata: { name: 'bad' }, spec };
    const { status, body } = await api.post(POLICIES, object, { query: { dryRun: 'All' } });
    expect([status, at(body, 'message')]).toEqual([422, expect.stringContaining(message)]);
  });
}
