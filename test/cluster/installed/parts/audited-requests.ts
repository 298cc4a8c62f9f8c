import { join } from 'node:path';
import { expect, test } from 'vitest';
import { accountToken, AGENT, WEBHOOK, writeKubeconfig } from '#test/cluster/support/accounts.ts';
import { type AgentProcess, startAgentProcess } from '#test/cluster/support/agent-process.ts';
import { type MeasuredPod, memorySummary, startFakeKubelet } from '#test/cluster/support/fake-kubelet.ts';
import { startInstalledWebhook } from '#test/cluster/support/installed-webhook.ts';
import { at, pod, textAt } from '#test/contract/harness.ts';
import { AS_DEPLOYED } from '#test/cluster/installed/support/as-deployed.ts';
import { type Attempt, mayDo } from '#test/cluster/installed/support/attempt.ts';
import { requestsOf } from '#test/cluster/installed/support/audit-log.ts';
import { type InstalledCluster, OTHER_NODE, post } from '#test/cluster/installed/support/installed-cluster.ts';
import { eventually } from '#test/build/waiting.ts';

const PODS = '/api/v1/namespaces/default/pods';
const POLICY = {
  apiVersion: 'plimsoll.dev/v1alpha1',
  kind: 'NodePressurePolicy',
  metadata: { name: 'audited' },
  spec: { mode: 'Enforce', evictionHard: { 'memory.available': '200Mi' } },
};
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
    const made = await post(admin, PODS, pod(name, { nodeName: OTHER_NODE, terminationGracePeriodSeconds: 1 }));
    const uid = textAt(made, 'object.metadata.uid');
    const body = { status: { phase: 'Running', startTime: new Date().toISOString() } };
    const contentType = 'application/merge-patch+json';
    const running = await admin.request({ method: 'PATCH', path: `${PODS}/${name}/status`, contentType, body });
    expect(running).toMatchObject({ kind: 'ok' });
    return { namespace: 'default', name, uid, mebibytes };
  }

  async function isLeaving(name: string): Promise<boolean> {
    const found = await own().admin.request({ path: `${PODS}/${name}` });
    return at(found, 'object.metadata.deletionTimestamp') !== undefined;
  }

  async function startAgent(kubeletUrl: string): Promise<AgentProcess> {
    const { admin, connection, cluster } = own();
    const kubeconfig = join(cluster.folder, 'agent.kubeconfig');
    writeKubeconfig(kubeconfig, connection, await accountToken(admin, AGENT, await agentPodOn(OTHER_NODE)));
    return startAgentProcess({ kubeconfig, nodeName: OTHER_NODE, kubeletUrl });
  }

  test('the agent evicts a pod, with its own rights and past the webhook', { timeout: 120_000 }, async () => {
    const { admin, connection, cluster } = own();
    const registered = { folder: cluster.folder, client: admin, connection, failurePolicy: 'Fail' } as const;
    const webhook = await startInstalledWebhook({ ...registered, settings: AS_DEPLOYED });
    const forged = { ...pod('forged'), status: { qosClass: 'Guaranteed' } };
    await eventually(async () => expect(await post(admin, PODS, forged)).toMatchObject({ kind: 'forbidden' }));
    const [hog, steady] = [await measuredPod('hog', 600), await measuredPod('steady', 50)];
    const gone = { isHogGone: false };
    const kubelet = await startFakeKubelet(() =>
      gone.isHogGone ? memorySummary(OTHER_NODE, ENOUGH, [steady]) : memorySummary(OTHER_NODE, SHORT, [hog, steady]),
    );
    expect(await post(admin, '/apis/plimsoll.dev/v1alpha1/nodepressurepolicies', POLICY)).toMatchObject({ kind: 'ok' });
    const agent = await startAgent(kubelet.url);
    try {
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
  });

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
