import { beforeAll, describe, expect, test } from 'vitest';
import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';
import { defaultPolicy } from '#shared/kube/admission/default-policy.ts';
import { DEFAULT_POLICY } from '#shared/kube/api-names.ts';
import { servesMutatingPolicies } from '#test/cluster/support/control-plane/binaries.ts';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { at, contractHarness, pod, uniqueName } from '#test/contract/harness.ts';
import { patched, type Reviewer } from '#test/contract/webhook-receiver.ts';
import { ADMISSION, webhookRegistrar } from '#test/contract/webhook-registrar.ts';
import { clusterObjects, onlyIn, POLICIES, PRIORITY_CLASSES } from '#test/cluster/admission/support/cluster-objects.ts';
import { registeredWebhooks, slowPod } from '#test/cluster/admission/support/registered-webhooks.ts';
import { eventually } from '#test/build/waiting.ts';
import { printed, printedCases } from './printed-in-process.ts';

const PATIENCE_MS = 30_000;
/** After a change of a class, the rules are compiled and known to the API server. */
const RECOMPILED_WITHIN_MS = 2_000;
const PREEMPTS = 'PreemptLowerPriority';
const ONLY_PODS = {
  rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
};

/** The webhook compiles the defaults; at first it is asked about what the API server leaves to it, then about nothing. */
describe.skipIf(!hasCluster() || !servesMutatingPolicies(process.env))(
  'with and without the entries for pods, the API server itself gives',
  () => {
    const api = contractHarness(clusterTarget());
    const objects = clusterObjects(api);
    const webhooks = registeredWebhooks(api, { policies: [...rulePolicies(), ...defaultPolicy()] });
    const others = webhookRegistrar(api, 'others');
    const names = { high: '', highNever: '', low: '', lowNever: '', unnamed: '' };
    const policies = { default: '', never: '' };

    beforeAll(async () => {
      names.high = await objects.priorityClass('high', 1_000_000_000);
      names.highNever = await objects.priorityClass('high-never', 1_000, { preemptionPolicy: 'Never' });
      names.low = await objects.priorityClass('low', -1_000);
      names.lowNever = await objects.priorityClass('low-never', -7, { preemptionPolicy: 'Never' });
      names.unnamed = await objects.priorityClass('unnamed', 5);
      policies.default = await objects.policy('default', {
        namespaceSelector: onlyIn(api),
        defaultPriorityClassName: names.low,
        maxPriority: 1_000,
      });
      await eventually(async () => expect(await tripleOf({})).toEqual([names.low, -1_000, PREEMPTS]), PATIENCE_MS);
    }, 90_000);

    async function create(spec: object): Promise<{ readonly status: number; readonly body: unknown }> {
      return api.post(api.core('pods'), pod(uniqueName('pod'), spec), { query: { dryRun: 'All' } });
    }

    /** The three fields as stored, or why the pod is refused. */
    async function tripleOf(spec: object): Promise<unknown> {
      const { status, body } = await create(spec);
      if (status !== 201) return at(body, 'message');
      return [at(body, 'spec.priorityClassName'), at(body, 'spec.priority'), at(body, 'spec.preemptionPolicy')];
    }

    /** How many reviews the webhook has answered. */
    async function reviews(): Promise<number> {
      const texts = await Promise.all(webhooks.processes.map((each) => each.metrics()));
      const counts = texts.flatMap((text) => [...text.matchAll(/^plimsoll_webhook_requests_total\{.*\} (\d+)$/gm)]);
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    }

    async function reviewsOf(ask: () => Promise<unknown>): Promise<number> {
      const before = await reviews();
      await ask();
      return (await reviews()) - before;
    }

    test('what it gives without asking the webhook, which is asked about the rest', async () => {
      await eventually(async () => expect(await reviewsOf(() => tripleOf({}))).toBe(0), PATIENCE_MS);
      expect(await tripleOf({})).toEqual([names.low, -1_000, PREEMPTS]);
      expect(await reviewsOf(() => tripleOf({ priorityClassName: names.unnamed }))).toBe(0);
      const slow = slowPod('slow');
      expect(await reviewsOf(() => api.post(api.core('pods'), slow, { query: { dryRun: 'All' } }))).toBe(1);
      for (const phase of ['mutating', 'validating'])
        await api.remove(`${ADMISSION}/${phase}webhookconfigurations/plimsoll`);
    });

    test('the default of a policy, stored with its number and preemption policy', async () => {
      const { status, body } = await api.post(api.core('pods'), pod(uniqueName('stored')));
      const stored = await api.get(api.core(`pods/${String(at(body, 'metadata.name'))}`));
      expect([status, at(stored.body, 'spec')]).toMatchObject([
        201,
        { priorityClassName: names.low, priority: -1_000, preemptionPolicy: PREEMPTS },
      ]);
    });

    test('nothing to a pod that names its class, which keeps to the rules', async () => {
      expect(await tripleOf({ priorityClassName: names.unnamed })).toEqual([names.unnamed, 5, PREEMPTS]);
      expect(await tripleOf({ priorityClassName: names.high })).toContain(
        `policy \`${policies.default}\` allows a priority of at most 1000 here`,
      );
      expect(await tripleOf({ priority: 5 })).toContain('the integer value of priority (5) must not be provided');
    });

    test('what kubectl prints for refusals is what the golden file says', async () => {
      const cases = printedCases(names.high, names.low, names.lowNever);
      await expect(await printed(api, objects, cases)).toMatchFileSnapshot('golden/in-process.txt');
    });

    /** The API server gives no default while `use` runs, as where an expression fails. */
    async function withoutMutation(use: () => Promise<void>): Promise<void> {
      const bindings = `${ADMISSION}/mutatingadmissionpolicybindings`;
      await api.remove(`${bindings}/${DEFAULT_POLICY}`);
      await use();
      const [, binding] = defaultPolicy();
      expect((await api.post(bindings, binding)).status).toBe(201);
    }

    test('the default of the policy where the cluster has a global default, which a pod may still name but not just get', async () => {
      const everywhere = await objects.priorityClass('everywhere', 7, { globalDefault: true });
      await eventually(async () => {
        expect(await tripleOf({ priorityClassName: everywhere })).toEqual([everywhere, 7, PREEMPTS]);
        expect(await tripleOf({})).toEqual([names.low, -1_000, PREEMPTS]);
      }, PATIENCE_MS);
      await withoutMutation(async () => {
        await eventually(
          async () => expect(await tripleOf({})).toContain(`\`${policies.default}\` gives pods here`),
          PATIENCE_MS,
        );
        expect(await tripleOf({ priorityClassName: everywhere })).toEqual([everywhere, 7, PREEMPTS]);
      });
      await api.remove(`${PRIORITY_CLASSES}/${everywhere}`);
      await eventually(async () => expect(await tripleOf({})).toEqual([names.low, -1_000, PREEMPTS]), PATIENCE_MS);
    });

    test('of two policies the lower default, substitutes, and a scheduler', async () => {
      policies.never = await objects.policy('never', {
        namespaceSelector: onlyIn(api),
        defaultPriorityClassName: names.unnamed,
        preemption: 'Never',
        substitutePriorityClassNames: { [names.low]: names.lowNever, [names.high]: names.highNever },
        schedulerName: 'other-scheduler',
      });
      await eventually(async () => expect(await tripleOf({})).toEqual([names.lowNever, -7, 'Never']), PATIENCE_MS);
      expect(await tripleOf({ priorityClassName: names.high })).toEqual([names.highNever, 1_000, 'Never']);
      expect(await tripleOf({ priorityClassName: names.unnamed })).toContain(
        `policy \`${policies.never}\` forbids preemption here`,
      );
      const explicit = { priorityClassName: names.highNever, schedulerName: 'default-scheduler' };
      expect(at((await create(explicit)).body, 'spec.schedulerName')).toBe('other-scheduler');
      expect(at((await create({ ...explicit, schedulerName: 'mine' })).body, 'spec.schedulerName')).toBe('mine');
      const bound = { ...explicit, nodeName: 'somewhere' };
      expect(at((await create(bound)).body, 'spec.schedulerName')).toBe('default-scheduler');
      await api.remove(`${POLICIES}/${policies.never}`);
      await eventually(async () => expect(await tripleOf({})).toEqual([names.low, -1_000, PREEMPTS]), PATIENCE_MS);
    });

    test('the number of a class that was made again with another one, within two seconds', async () => {
      const path = `${PRIORITY_CLASSES}/${names.low}`;
      await api.remove(path);
      // A moment longer the copy of the API server has the class.
      const refused = await eventually(async () => {
        const triple = await tripleOf({});
        expect(triple).toBeTypeOf('string');
        return triple;
      }, PATIENCE_MS);
      const since = performance.now();
      expect((await api.post(PRIORITY_CLASSES, { metadata: { name: names.low }, value: -2_000 })).status).toBe(201);
      const seen: unknown[] = [refused];
      await eventually(async () => {
        const triple = await tripleOf({});
        seen.push(triple);
        expect(triple).toEqual([names.low, -2_000, PREEMPTS]);
      }, PATIENCE_MS);
      expect(performance.now() - since).toBeLessThan(RECOMPILED_WITHIN_MS);
      // What a user reads meanwhile: the words of Kubernetes' own plugin, or ours about a default that is not given.
      for (const each of seen.filter((one) => typeof one === 'string'))
        expect(each).toMatch(/no PriorityClass with name|must not be provided in pod spec|did not get it/);
      expect(seen.filter((each) => Array.isArray(each) && each[0] === names.low)).toEqual([
        [names.low, -2_000, PREEMPTS],
      ]);
    });

    const setting =
      (fields: object): Reviewer =>
      () =>
        patched(
          Object.entries(fields).map(([field, value]) => ({
            op: 'add',
            path: `/spec/${field}`,
            value: value as unknown,
          })),
        );

    test('the default before other mutating webhooks, which see all three fields', async () => {
      const label: Reviewer = () => patched([{ op: 'add', path: '/metadata/labels', value: { seen: 'yes' } }]);
      await others.register('mutating', { path: '/label', reviewer: label, ...ONLY_PODS });
      const { status, body } = await create({});
      expect([status, at(body, 'metadata.labels.seen'), at(body, 'spec.priorityClassName')]).toEqual([
        201,
        'yes',
        names.low,
      ]);
      expect(others.receiver().received[0]?.request).toMatchObject({
        object: { spec: { priorityClassName: names.low, priority: -2_000, preemptionPolicy: PREEMPTS } },
      });
    });

    test('nothing to a pod whose class another webhook changes, and the default again where it takes it out', async () => {
      const giving = await others.register('mutating', {
        path: '/class',
        reviewer: setting({ priorityClassName: names.unnamed, priority: 5 }),
        ...ONLY_PODS,
      });
      expect(await tripleOf({})).toEqual([names.unnamed, 5, PREEMPTS]);
      await api.remove(giving);
      await others.register('mutating', {
        path: '/without',
        reviewer: () =>
          patched(['priorityClassName', 'priority'].map((field) => ({ op: 'remove', path: `/spec/${field}` }))),
        ...ONLY_PODS,
      });
      // The API server may go on with the webhook that was removed for a moment.
      await eventually(async () => expect(await tripleOf({})).toEqual([names.low, -2_000, PREEMPTS]), PATIENCE_MS);
    });
  },
);
