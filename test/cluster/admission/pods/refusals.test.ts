import { beforeAll, describe, expect, inject, test } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { at, contractHarness, pod, uniqueName } from '#test/contract/harness.ts';
import { clusterObjects } from '#test/cluster/admission/support/cluster-objects.ts';
import { goldenSection } from '#test/cluster/admission/support/golden-section.ts';
import { plainNames } from '#test/cluster/admission/support/plain-names.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';
import { BY_COMPILED_RULES } from '#test/cluster/admission/support/rules-in-force.ts';
import { eventually } from '#test/build/waiting.ts';

/** The requests, in a namespace prepared for them. */
interface Wish {
  readonly object: object;
  readonly user?: string;
}

const PERSON = 'jane';
const GOLDEN = new URL('golden/refusals.txt', import.meta.url);
const ONE_GIBIBYTE = { containers: [{ name: 'main', image: 'x', resources: { requests: { memory: '1Gi' } } }] };

describe.skipIf(!hasCluster())('what kubectl prints for refusals and warnings', () => {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  registeredWebhooks(api);
  const names = { low: '', high: '' };

  beforeAll(async () => {
    names.low = await objects.priorityClass('low', 10);
    names.high = await objects.priorityClass('high', 1_000);
    await objects.administrator(PERSON);
  });

  const cases: Readonly<Record<string, (namespace: string) => Promise<Wish>>> = {
    'a class that does not exist': () => wish(pod('web', { priorityClassName: 'missing' })),
    'a number that is not the number of the class': () =>
      wish(pod('web', { priorityClassName: names.low, priority: 7 })),
    'a class that a policy does not list': (namespace) =>
      underPolicy(namespace, { allowedPriorityClassNames: [names.low] }),
    'a class above the ceiling of a policy': (namespace) => underPolicy(namespace, { maxPriority: 500 }),
    'a class that preempts where preemption is forbidden': (namespace) =>
      underPolicy(namespace, { preemption: 'Never' }),
    'a class without the quota that it needs': (namespace) => underPolicy(namespace, { requireQuotaFor: [names.high] }),
    'a class that a policy only warns of': (namespace) =>
      underPolicy(namespace, { maxPriority: 500, onViolation: 'Warn' }),
    'a ResourceQuota of the class that is too small': resourceQuota,
    'a PriorityQuota that is too small': priorityQuota,
    'a forged QoS class': () => wish({ ...pod('web'), status: { qosClass: 'Guaranteed' } }),
    'a workload of a person who may not use the class': async (namespace) => {
      await underPolicy(namespace, { subjects: [{ kind: 'User', name: PERSON }], maxPriority: 500 });
      return { object: deployment(names.high), user: PERSON };
    },
    'a workload whose pods will be refused': async (namespace) => {
      await underPolicy(namespace, { maxPriority: 500 });
      return { object: deployment(names.high) };
    },
  };

  test('matches the golden file', async () => {
    const sections: string[] = [];
    for (const [what, prepare] of Object.entries(cases))
      sections.push(`# ${what}\n${goldenSection(GOLDEN, what) ?? (await answered(prepare))}`);
    await expect(sections.join('\n')).toMatchFileSnapshot('golden/refusals.txt');
  });

  async function answered(prepare: (namespace: string) => Promise<Wish>): Promise<string> {
    const namespace = uniqueName('team');
    await api.post('/api/v1/namespaces', {
      metadata: { name: namespace, labels: { 'plimsoll.dev/priority-quota': 'enforced' } },
    });
    const { object, user } = await prepare(namespace);
    const as = user === undefined ? [] : [`--as=${user}`];
    const args = ['create', '--dry-run=server', `--namespace=${namespace}`, '--filename=-', ...as];
    // Quota and policy take effect shortly after they are written.
    const said = await eventually(async () => {
      const { stdout, stderr } = await kubectl(inject('kubeconfig'), args, JSON.stringify(object));
      expect(stderr).toMatch(/forbidden|denied|Warning/);
      return stderr + stdout;
    }, 20_000);
    await api.remove(`/api/v1/namespaces/${namespace}`);
    // Both entries refuse such a pod, and the API server shows the answer that arrives first.
    return plainNames(said).replaceAll('"priority.plimsoll.dev" denied', '"quota.plimsoll.dev" denied');
  }

  async function underPolicy(namespace: string, spec: object): Promise<Wish> {
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
    await objects.policy('policy', { namespaceSelector, ...spec });
    const wanted = pod('web', { priorityClassName: names.high });
    // Until then only the webhook refuses, with its own prefix; only the webhook knows quotas.
    if (!('requireQuotaFor' in spec)) await untilCompiled(namespace, wanted);
    return wish(wanted);
  }

  /** Every policy here holds for the person too. */
  async function untilCompiled(namespace: string, wanted: object): Promise<void> {
    const args = ['create', '--dry-run=server', `--namespace=${namespace}`, '--filename=-', `--as=${PERSON}`];
    await eventually(async () => {
      const { stderr } = await kubectl(inject('kubeconfig'), args, JSON.stringify(wanted));
      expect(stderr).toContain(BY_COMPILED_RULES);
    }, 30_000);
  }

  async function resourceQuota(namespace: string): Promise<Wish> {
    const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
    const matchExpressions = [{ scopeName: 'PriorityClass', operator: 'In', values: [names.high] }];
    const hard = { 'requests.memory': '512Mi' };
    await api.post(path, { metadata: { name: 'high-tier' }, spec: { hard, scopeSelector: { matchExpressions } } });
    await eventually(async () => {
      const { body } = await api.get(`${path}/high-tier`);
      expect(at(body, 'status.used')).toEqual({ 'requests.memory': '0' });
    });
    return wish(pod('web', { priorityClassName: names.high, ...ONE_GIBIBYTE }));
  }

  async function priorityQuota(namespace: string): Promise<Wish> {
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
    const hard = { 'requests.memory': '512Mi' };
    await objects.priorityQuota('high-tier', { namespaceSelector, priorityClassNames: [names.high], hard });
    return wish(pod('web', { priorityClassName: names.high, ...ONE_GIBIBYTE }));
  }
});

function wish(object: object): Promise<Wish> {
  return Promise.resolve({ object });
}

function deployment(priorityClassName: string): object {
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { priorityClassName, containers: [{ name: 'main', image: 'x' }] } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: labels }, template },
  };
}
