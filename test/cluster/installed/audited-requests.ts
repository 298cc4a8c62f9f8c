import { join } from 'node:path';
import { expect, test } from 'vitest';
import { accountToken, AGENT, WEBHOOK, writeKubeconfig } from '#test/cluster/accounts.ts';
import { startAgentProcess } from '#test/cluster/agent-process.ts';
import { startInstalledWebhook } from '#test/cluster/installed-webhook.ts';
import { eventually, pod } from '#test/contract/harness.ts';
import { AS_DEPLOYED } from './as-deployed.ts';
import { mayDo } from './attempt.ts';
import { requestsOf } from './audit-log.ts';
import { type InstalledCluster, OWN_NODE, post } from './installed-cluster.ts';

/** Registers a test that holds what our programs really ask of the API server against what they may. */
export function auditedRequests({ own, clientOf, agentPodOn }: InstalledCluster): void {
  test('webhook and agent ask for nothing that they may not do', async () => {
    const { admin, connection, cluster } = own();
    const { folder } = cluster;
    const kubeconfig = join(folder, 'agent.kubeconfig');
    writeKubeconfig(kubeconfig, connection, await accountToken(admin, AGENT, await agentPodOn(OWN_NODE)));
    const registered = { folder, client: admin, connection, failurePolicy: 'Fail' } as const;
    const webhook = await startInstalledWebhook({ ...registered, settings: AS_DEPLOYED });
    const agent = await startAgentProcess(kubeconfig, OWN_NODE);
    try {
      await eventually(async () => {
        const forged = { ...pod('forged'), status: { qosClass: 'Guaranteed' } };
        expect(await post(admin, '/api/v1/namespaces/default/pods', forged)).toMatchObject({ kind: 'forbidden' });
      });
      await eventually(() => {
        const asked = requestsOf(cluster.auditLog, AGENT.name).map(({ verb, resource }) => `${verb} ${resource}`);
        expect(asked).toEqual(expect.arrayContaining(['list pods', 'watch nodes', 'patch nodepressures']));
        return Promise.resolve();
      }, 30_000);
    } finally {
      await Promise.all([webhook.stop(), agent.stop()]);
    }
    for (const account of [AGENT, WEBHOOK]) {
      const client = await clientOf(account);
      const asked = requestsOf(cluster.auditLog, account.name);
      const refused = await Promise.all(asked.map(async (each) => ((await mayDo(client, each)) ? [] : [each])));
      expect([asked.length > 3, refused.flat()]).toEqual([true, []]);
    }
  });
}
