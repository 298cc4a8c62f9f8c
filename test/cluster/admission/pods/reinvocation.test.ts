import { beforeAll, describe, expect, test } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { at, contractHarness, pod } from '#test/contract/harness.ts';
import { patched, type Reviewer } from '#test/contract/webhook-receiver.ts';
import { type WebhookEntry, webhookRegistrar } from '#test/contract/webhook-registrar.ts';
import { clusterObjects, onlyIn } from '#test/cluster/admission/support/cluster-objects.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';
import { untilPolicyInForce } from '#test/cluster/admission/support/rules-in-force.ts';
import { eventually } from '#test/build/waiting.ts';

/** Each `[path below spec, value]` replaced. */
function setting(...fields: readonly (readonly [field: string, value: unknown])[]): Reviewer {
  return () => patched(fields.map(([field, value]) => ({ op: 'add', path: `/spec/${field}`, value })));
}

const ONLY_PODS = {
  rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
};
const LABEL: Reviewer = () => patched([{ op: 'add', path: '/metadata/labels', value: { seen: 'yes' } }]);

describe.skipIf(!hasCluster())('with mutating webhooks of others after ours', () => {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  registeredWebhooks(api);
  const others = webhookRegistrar(api, 'zz-after-plimsoll');
  const names = { standard: '', other: '', never: '', top: '' };

  beforeAll(async () => {
    names.standard = await objects.priorityClass('standard', 100);
    names.other = await objects.priorityClass('other', 200);
    names.never = await objects.priorityClass('never', 100, { preemptionPolicy: 'Never' });
    names.top = await objects.priorityClass('top', 1_000);
    const limits = { defaultPriorityClassName: names.standard, maxPriority: 500 };
    await objects.policy('policy', { namespaceSelector: onlyIn(api), ...limits });
    await eventually(async () => {
      const { body } = await create(pod('probe'));
      expect(at(body, 'spec.priorityClassName')).toBe(names.standard);
    });
    await untilPolicyInForce(api, { priorityClassName: names.top });
  });

  const register = (...entries: readonly WebhookEntry[]) =>
    others.register('mutating', ...entries.map((entry) => ({ ...ONLY_PODS, ...entry })));
  const create = (body: object) => api.post(api.core('pods'), body, { query: { dryRun: 'All' } });

  /** Allows at first, and acts only on the second call for the same pod. */
  function inSecondRound(reviewer: Reviewer): Reviewer {
    let calls = 0;
    return (request) => ((calls += 1) % 2 === 0 ? reviewer(request) : { allowed: true });
  }

  test('they see our changes, and we accept their additions', async () => {
    await register({ path: '/label', reviewer: LABEL });
    const { status, body } = await create(pod('labelled'));
    expect([status, at(others.receiver().received[0]?.request, 'object.spec.priority')]).toEqual([201, 100]);
    expect(body).toMatchObject({
      metadata: { labels: { seen: 'yes' } },
      spec: { priorityClassName: names.standard, priority: 100, preemptionPolicy: 'PreemptLowerPriority' },
    });
  });

  test('another class with its own number and policy is taken over', async () => {
    const reviewer = setting(['priorityClassName', names.other], ['priority', 200]);
    await register({ path: '/consistent', reviewer });
    const { status, body } = await create(pod('consistent'));
    expect([status, at(body, 'spec.priorityClassName'), at(body, 'spec.priority')]).toEqual([201, names.other, 200]);
  });

  test('another class that our policy forbids is refused in the validating phase', async () => {
    const reviewer = setting(['priorityClassName', names.top], ['priority', 1_000]);
    await register({ path: '/forbidden', reviewer });
    const { status, body } = await create(pod('forbidden'));
    expect([status, at(body, 'message')]).toEqual([
      403,
      expect.stringMatching(/ValidatingAdmissionPolicy 'priority\.plimsoll\.dev' .* denied request: .*at most 500/),
    ]);
  });

  test('another class alone is refused by the Priority plugin, which is asked again, too', async () => {
    await register({ path: '/class-only', reviewer: setting(['priorityClassName', names.other]) });
    const { status, body } = await create(pod('class-only'));
    expect([status, at(body, 'message')]).toEqual([
      403,
      'pods "class-only" is forbidden: the integer value of priority (100) must not be provided in pod spec; ' +
        'priority admission controller computed 200 from the given PriorityClass name',
    ]);
  });

  describe('in the second round, where the Priority plugin is not asked any more', () => {
    const MISMATCH = 'must not be provided in pod spec; priority admission controller computed';
    const AGAIN = 'from the given PriorityClass name; if the class has just been changed, try again';

    test.each<[what: string, reviewer: () => Reviewer, message: () => string]>([
      [
        'a number',
        () => setting(['priority', 42]),
        () => `the integer value of priority (42) ${MISMATCH} 100 ${AGAIN}`,
      ],
      [
        'a policy',
        () => setting(['preemptionPolicy', 'Never']),
        () => `the string value of PreemptionPolicy (Never) ${MISMATCH} PreemptLowerPriority ${AGAIN}`,
      ],
      [
        'a class',
        () => setting(['priorityClassName', names.other]),
        () => `the integer value of priority (100) ${MISMATCH} 200 ${AGAIN}`,
      ],
      [
        'a class with another policy',
        () => setting(['priorityClassName', names.never]),
        () => `the string value of PreemptionPolicy (PreemptLowerPriority) ${MISMATCH} Never ${AGAIN}`,
      ],
    ])('%s that does not fit is refused in the validating phase', async (_, reviewer, message) => {
      await register(
        { path: '/late', reviewer: inSecondRound(reviewer()), reinvocationPolicy: 'IfNeeded' },
        { path: '/label', reviewer: LABEL },
      );
      const { status, body } = await create(pod('late'));
      expect(others.receiver().received.map(({ path }) => path)).toEqual(['/late', '/label', '/late']);
      expect([status, at(body, 'message')]).toEqual([
        403,
        `admission webhook "priority.plimsoll.dev" denied the request: pods "late" is forbidden: ${message()}`,
      ]);
    });
  });
});
