import { expect, test } from 'vitest';
import { accountKubeconfig, AGENT, WEBHOOK } from '#test/cluster/support/accounts.ts';
import { type AgentProcess, startAgentProcess } from '#test/cluster/support/agent-process.ts';
import { type MeasuredPod, memorySummary, startFakeKubelet } from '#test/cluster/support/fake-kubelet.ts';
import { startInstalledWebhook } from '#test/cluster/support/installed-webhook.ts';
import { at, pod, textAt } from '#test/contract/harness.ts';
import { AS_DEPLOYED } from '#test/cluster/installed/support/as-deployed.ts';
import { type Attempt, mayDo } from '#test/cluster/installed/support/attempt.ts';
import { requestsOf } from '#test/cluster/installed/support/audit-log.ts';
import { type InstalledCluster, OTHER_NODE, post } from '#test/cluster/installed/support/installed-cluster.ts';
import { ANNOTATION_CONFIRMED_GENERATION } from '#shared/kube/api-names.ts';
import { eventually } from '#test/build/waiting.ts';

const PODS = '/api/v1/namespaces/default/pods';
const EVENTS = '/api/v1/namespaces/default/events';
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const POLICIES = '/apis/plimsoll.dev/v1alpha1/nodepressurepolicies';
const POLICY = {
  apiVersion: 'plimsoll.dev/v1alpha1',
  kind: 'NodePressurePolicy',
  metadata: { name: 'audited' },
  spec: { mode: 'DryRun', evictionHard: { 'memory.available': '200Mi' } },
};
const PRIORITY_POLICIES = '/apis/plimsoll.dev/v1alpha1/prioritypolicies';
const CEILING = {
  apiVersion: 'plimsoll.dev/v1alpha1',
  kind: 'PriorityPolicy',
  metadata: { name: 'ceiling' },
  spec: {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } },
    maxPriority: 1_000_000_000,
  },
};
const APP = { app: 'hog' };
const BUDGET = { metadata: { name: 'hog' }, spec: { maxUnavailable: 0, selector: { matchLabels: APP } } };
const MERGE = 'application/merge-patch+json';
/** Of these the agent evicts the hog alone: nothing is short once it has gone. */
const SHORT = { availableMebibytes: 100, capacityMebibytes: 1_000 };
const ENOUGH = { availableMebibytes: 800, capacityMebibytes: 1_000 };

/** The agent looks at the victim once more before it evicts, and says so in Events and in its status. */
const AS_AN_EVICTION_NEEDS = [
  'watch nodes',
  'watch nodepressurepolicies',
  'watch pods',
  'get namespaces',
  'get pods',
  'create pods/eviction',
  'create events',
  'patch nodepressures/status',
];

/** Registers tests that hold what our programs really ask of the API server against what they may. */
export function auditedRequests({ own, clientOf, agentPodOn }: InstalledCluster): void {
  /** A running pod on the node, and what the kubelet says of it. */
  async function measuredPod(name: string, mebibytes: number): Promise<MeasuredPod> {
    const { admin } = own();
    const spec = { nodeName: OTHER_NODE, terminationGracePeriodSeconds: 1 };
    const made = await post(admin, PODS, pod(name, spec, { labels: { app: name } }));
    const uid = textAt(made, 'object.metadata.uid');
    const conditions = [{ type: 'Ready', status: 'True' }];
    const body = { status: { phase: 'Running', startTime: new Date().toISOString(), conditions } };
    const running = await patch(`${PODS}/${name}/status`, body);
    expect(running).toMatchObject({ kind: 'ok' });
    return { namespace: 'default', name, uid, mebibytes };
  }

  function patch(path: string, body: object) {
    return own().admin.request({ method: 'PATCH', path, contentType: MERGE, body });
  }

  /** Only the webhook compiles a policy into rules. */
  async function untilRulesApply(): Promise<void> {
    const { admin } = own();
    expect(await post(admin, PRIORITY_POLICIES, CEILING)).toMatchObject({ kind: 'ok' });
    const body = pod('above', { priorityClassName: 'system-cluster-critical' });
    const above = { method: 'POST', path: PODS, query: { dryRun: 'All' }, body } as const;
    await eventually(async () => expect(await admin.request(above)).toMatchObject({ kind: 'forbidden' }));
    await admin.request({ method: 'DELETE', path: `${PRIORITY_POLICIES}/${CEILING.metadata.name}` });
  }

  /** As the disruption controller would, of which there is none here. */
  async function makeBudget(): Promise<void> {
    expect(await post(own().admin, BUDGETS, BUDGET)).toMatchObject({ kind: 'ok' });
    const status = {
      observedGeneration: 1,
      disruptionsAllowed: 0,
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
    };
    expect(await patch(`${BUDGETS}/hog/status`, { status })).toMatchObject({ kind: 'ok' });
  }

  /** What the agent says about the hog in its dry run. */
  async function dryRunNotes(): Promise<readonly unknown[]> {
    const query = { fieldSelector: 'involvedObject.name=hog,reason=EvictionDryRun' };
    const found = at(await own().admin.request({ path: EVENTS, query }), 'object.items') as readonly object[];
    return found.map((event) => [at(event, 'type'), at(event, 'message')]);
  }

  /** In a dry run the API server refuses what the budget forbids, and the pod stays; then the policy enforces. */
  async function enforceAfterDryRun(): Promise<void> {
    const refused = ['Normal', expect.stringMatching(/^Cannot evict: .*budget.* \(dry run\)$/) as string];
    await eventually(async () => expect(await dryRunNotes()).toContainEqual(refused), 60_000);
    expect(await isLeaving('hog')).toBe(false);
    await own().admin.request({ method: 'DELETE', path: `${BUDGETS}/hog` });
    const annotations = { [ANNOTATION_CONFIRMED_GENERATION]: '2' };
    const enforced = { metadata: { annotations }, spec: { mode: 'Enforce' } };
    expect(await patch(`${POLICIES}/${POLICY.metadata.name}`, enforced)).toMatchObject({ kind: 'ok' });
  }

  async function isLeaving(name: string): Promise<boolean> {
    const found = await own().admin.request({ path: `${PODS}/${name}` });
    return at(found, 'object.metadata.deletionTimestamp') !== undefined;
  }

  async function startAgent(kubeletUrl: string): Promise<AgentProcess> {
    const kubeconfig = await accountKubeconfig(own(), AGENT, { podName: await agentPodOn(OTHER_NODE) });
    return startAgentProcess({ kubeconfig, nodeName: OTHER_NODE, kubeletUrl });
  }

  test(
    'the agent evicts a pod, after a dry run that a budget refuses, with its own rights and past the webhook',
    { timeout: 120_000 },
    async () => {
      const { admin, connection, cluster } = own();
      const registered = { folder: cluster.folder, client: admin, connection, failurePolicy: 'Fail' } as const;
      const webhook = await startInstalledWebhook({ ...registered, settings: AS_DEPLOYED });
      await untilRulesApply();
      const [hog, steady] = [await measuredPod('hog', 600), await measuredPod('steady', 50)];
      const gone = { isHogGone: false };
      const kubelet = await startFakeKubelet(() =>
        gone.isHogGone ? memorySummary(OTHER_NODE, ENOUGH, [steady]) : memorySummary(OTHER_NODE, SHORT, [hog, steady]),
      );
      await makeBudget();
      expect(await post(admin, POLICIES, POLICY)).toMatchObject({ kind: 'ok' });
      const agent = await startAgent(kubelet.url);
      try {
        await enforceAfterDryRun();
        await eventually(async () => expect(await isLeaving('hog')).toBe(true), 60_000);
        gone.isHogGone = true;
        await admin.request({ method: 'DELETE', path: `${PODS}/hog`, body: { gracePeriodSeconds: 0 } });
        await eventually(async () => {
          const path = `/apis/plimsoll.dev/v1alpha1/nodepressures/${OTHER_NODE}`;
          const [told] = at(await admin.request({ path }), 'object.status.evictions') as readonly unknown[];
          expect(told).toMatchObject({ pod: 'default/hog', uid: hog.uid, endedAt: expect.any(String) as string });
        }, 60_000);
        expect(await isLeaving('steady')).toBe(false);
      } finally {
        await Promise.all([webhook.stop(), agent.stop(), kubelet.close()]);
      }
    },
  );

  test('webhook and agent ask for nothing that they may not do, and the agent uses the rights that it has', async () => {
    const { auditLog } = own().cluster;
    for (const account of [AGENT, WEBHOOK]) {
      const client = await clientOf(account);
      const asked = requestsOf(auditLog, account.name);
      const refused = await Promise.all(asked.map(async (each) => ((await mayDo(client, each)) ? [] : [each])));
      expect([asked.length > 3, refused.flat()]).toEqual([true, []]);
    }
    const used = requestsOf(auditLog, AGENT.name).map(describe);
    expect(used).toEqual(expect.arrayContaining(AS_AN_EVICTION_NEEDS));
  });
}

function describe({ verb, resource, subresource }: Attempt): string {
  return `${verb} ${resource}${subresource === '' ? '' : `/${subresource}`}`;
}
