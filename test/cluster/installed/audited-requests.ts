import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { accountToken, AGENT, WEBHOOK, writeKubeconfig } from '#test/cluster/accounts.ts';
import { startAgentProcess } from '#test/cluster/agent-process.ts';
import { freePorts } from '#test/cluster/free-ports.ts';
import { startWebhookProcess } from '#test/cluster/webhook-process.ts';
import { eventually, pod } from '#test/contract/harness.ts';
import { registerFully } from '#webhook/register.ts';
import { mayDo } from './attempt.ts';
import { requestsOf } from './audit-log.ts';
import { type InstalledCluster, OWN_NODE } from './installed-cluster.ts';

/** Registers a test that holds what our programs really ask of the API server against what they may. */
export function auditedRequests({ own, clientOf, agentPodOn }: InstalledCluster): void {
  test('webhook and agent ask for nothing that they may not do', async () => {
    const { admin, connection, cluster } = own();
    const [port = 0] = await freePorts(1);
    // Nothing carries traffic to the Service here, so the API server is told the address itself.
    const target = { kind: 'url', url: `https://127.0.0.1:${port}` } as const;
    await registerFully(admin, { target, failurePolicy: 'Fail', gatedCallers: [] });
    const folder = dirname(cluster.kubeconfig);
    const files = { webhook: join(folder, 'webhook.kubeconfig'), agent: join(folder, 'agent.kubeconfig') };
    writeKubeconfig(files.webhook, connection, await accountToken(admin, WEBHOOK));
    writeKubeconfig(files.agent, connection, await accountToken(admin, AGENT, await agentPodOn(OWN_NODE)));
    const webhook = await startWebhookProcess(files.webhook, { port });
    const agent = await startAgentProcess(files.agent, OWN_NODE);
    try {
      await eventually(async () => {
        const path = '/api/v1/namespaces/default/pods';
        const made = await admin.request({ method: 'POST', path, query: { dryRun: 'All' }, body: pod('asked') });
        expect(made).toMatchObject({ kind: 'ok' });
      });
      await eventually(() => {
        const asked = requestsOf(cluster.auditLog, AGENT.name).map(({ verb, resource }) => `${verb} ${resource}`);
        expect(asked).toEqual(expect.arrayContaining(['list pods', 'watch nodes', 'patch nodepressures']));
        return Promise.resolve();
      }, 20_000);
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
