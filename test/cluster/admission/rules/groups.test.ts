import { beforeAll, describe, expect, test } from 'vitest';
import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';
import { groupDefaultPolicy } from '#shared/kube/admission/default-policy.ts';
import { eventually } from '#test/build/waiting.ts';
import { clusterObjects, onlyIn, PRIORITY_CLASSES } from '#test/cluster/admission/support/cluster-objects.ts';
import { rulesAlone } from '#test/cluster/admission/support/rules-alone.ts';
import { untilPolicyInForce } from '#test/cluster/admission/support/rules-in-force.ts';
import { groupsServed } from '#test/cluster/support/control-plane/binaries.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { asUser, type AsUser } from '#test/cluster/admission/support/as-user.ts';
import { at, contractHarness, uniqueName } from '#test/contract/harness.ts';

const served = groupsServed(process.env);
const GROUP = `scheduling.k8s.io/${served?.version ?? ''}`;
const apiServerFlags = [`--feature-gates=${served?.gates ?? ''}`, '--runtime-config=api/all=true'];
const PERSON = 'jane';
const BASIC = { schedulingPolicy: { basic: {} } };
const PATIENCE_MS = 30_000;
const why = whyNoOwnCluster(process.env);

/** Alpha in Kubernetes 1.36, off in 1.37: the shared control plane does not serve these kinds. */
describe.skipIf(why !== undefined || served === undefined)(
  `groups of pods, by the API server itself${why ?? ''}`,
  () => {
    const own = ownCluster(() => Promise.resolve({ apiServerFlags }));
    const api = contractHarness(() => ({ kind: 'real', connection: own().connection }));
    const objects = clusterObjects(api);
    const names = { high: '', low: '' };
    let asPerson: AsUser;
    rulesAlone(api, {
      policies: [...rulePolicies(), ...groupDefaultPolicy()],
      kubeconfigOf: () => own().cluster.kubeconfig,
    });

    beforeAll(async () => {
      names.high = await objects.priorityClass('high', 1_000);
      names.low = await objects.priorityClass('low', 10);
      await objects.administrator(PERSON);
      asPerson = asUser(own().connection, PERSON);
      const subjects = [{ kind: 'User', name: PERSON }];
      await objects.policy('person', { namespaceSelector: onlyIn(api), subjects, maxPriority: 100 });
      await objects.policy('everybody', { namespaceSelector: onlyIn(api), maxPriority: 500 });
      await untilPolicyInForce(api, { priorityClassName: names.high });
    });

    async function create(plural: string, kind: string, spec: object, user = asUser(own().connection)) {
      const { status, body } = await post(plural, kind, spec, user);
      return [status, at(body, 'message')];
    }

    function post(plural: string, kind: string, spec: object, user = asUser(own().connection)) {
      const path = `/apis/${GROUP}/namespaces/${api.namespace}/${plural}?dryRun=All`;
      return user('POST', path, { apiVersion: GROUP, kind, metadata: { name: uniqueName('group') }, spec });
    }

    const podGroup = (priorityClassName: string, user?: AsUser) =>
      create('podgroups', 'PodGroup', { ...BASIC, priorityClassName }, user);
    const workload = (classes: readonly string[], user?: AsUser) => {
      const podGroupTemplates = classes.map((priorityClassName, index) => ({
        name: `g${index}`,
        ...BASIC,
        priorityClassName,
      }));
      return create('workloads', 'Workload', { podGroupTemplates }, user);
    };
    const refusedBy = (policy: string, most: number): unknown => [
      403,
      expect.stringMatching(new RegExp(`ValidatingAdmissionPolicy '${policy}' .*at most ${most} here.* has 1000`)),
    ];

    test('a PodGroup of a class that is too high is refused, for everybody and for a person', async () => {
      expect(await podGroup(names.high)).toEqual(refusedBy('podgroups.plimsoll.dev', 500));
      expect(await podGroup(names.high, asPerson)).toEqual(refusedBy('podgroups.plimsoll.dev', 500));
      expect(await podGroup(names.low, asPerson)).toEqual([201, undefined]);
    });

    test('a Workload is refused for any of its templates, for a person', async () => {
      // From 1.37 on all templates of a Workload have one class.
      const lower = served?.version === 'v1alpha2' ? names.low : names.high;
      expect(await workload([lower, names.high], asPerson)).toEqual(refusedBy('workloads.plimsoll.dev', 100));
      expect(await workload([names.low, names.low], asPerson)).toEqual([201, undefined]);
      expect(await workload([names.high])).toEqual([201, undefined]);
    });

    /** Class and number as stored, or why the group is refused. */
    async function given(spec: object): Promise<unknown> {
      const { status, body } = await post('podgroups', 'PodGroup', { ...BASIC, ...spec });
      return status === 201
        ? [at(body, 'spec.priorityClassName') ?? '', at(body, 'spec.priority')]
        : at(body, 'message');
    }

    test('a PodGroup gets the default and the substitutes of the policies, as its pods do', async () => {
      expect(await given({})).toEqual(['', 0]);
      const never = await objects.priorityClass('never', -5, { preemptionPolicy: 'Never' });
      await objects.policy('giving', {
        namespaceSelector: onlyIn(api),
        defaultPriorityClassName: names.low,
        preemption: 'Never',
        substitutePriorityClassNames: { [names.high]: never },
      });
      await eventually(async () => expect(await given({})).toEqual([names.low, 10]), PATIENCE_MS);
      expect(await given({ priorityClassName: never })).toEqual([never, -5]);
      expect(await given({ priorityClassName: names.high })).toEqual([never, -5]);
      expect(await given({ priority: 7 })).toContain('priority set in the pod group (7) must match');
    });

    test('the default of the policy where the cluster has a global default, which a PodGroup may still name', async () => {
      const everywhere = await objects.priorityClass('everywhere', 7, { globalDefault: true });
      await eventually(async () => {
        expect(await given({ priorityClassName: everywhere })).toEqual([everywhere, 7]);
        expect(await given({})).toEqual([names.low, 10]);
      }, PATIENCE_MS);
      await api.remove(`${PRIORITY_CLASSES}/${everywhere}`);
      await eventually(async () => expect(await given({})).toEqual([names.low, 10]), PATIENCE_MS);
    });

    test('the templates of a Workload stay as they are, and a PodGroup that is made from one gets the default', async () => {
      const templates = [{ name: 'workers', ...BASIC }];
      const workload = { apiVersion: GROUP, kind: 'Workload', metadata: { name: 'training' } };
      const path = `/apis/${GROUP}/namespaces/${api.namespace}/workloads`;
      const { status, body } = await api.post(path, { ...workload, spec: { podGroupTemplates: templates } });
      expect([status, at(body, 'spec.podGroupTemplates.0.priorityClassName')]).toEqual([201, undefined]);
      const podGroupTemplateRef = { workload: { workloadName: 'training', podGroupTemplateName: 'workers' } };
      expect(await given({ podGroupTemplateRef })).toEqual([names.low, 10]);
    });
  },
);
