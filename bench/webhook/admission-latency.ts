/**
 * What admission adds to a pod create on a real API server: by nothing, the rules in the API server without any webhook,
 * the in-tree ResourceQuota, our mutating entry, with our validating one, and with a PriorityQuota; all but the first and
 * the ResourceQuota with those rules. One client for latency, 16 for throughput; and what the rules of 0, 100 and 400
 * PriorityPolicies add. With the argument `rules` the last alone. JSON on stdout.
 */
import { loadavg } from 'node:os';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';
import { type Cluster, startCluster } from '#test/cluster/support/control-plane/cluster.ts';
import { installPlimsoll } from '#test/cluster/support/install.ts';
import { startInstalledWebhook } from '#test/cluster/support/installed-webhook.ts';
import { apiServerCalls, shareWithin5Ms, webhookCalls } from './admission/calls.ts';
import { countsSince } from './admission/counts.ts';
import { addPolicies, prepare } from './admission/prepare.ts';
import { report } from './admission/report.ts';
import { type Rounds, runRounds } from './admission/run-rounds.ts';
import { chargesOf, untilSliced } from './admission/slices.ts';

/** What comes first in a block is enough for a replica to take its slice of the quota again. */
const ONE_CLIENT = { clients: 1, rounds: 30, first: 20, creates: 100 } as const;
const SIXTEEN_CLIENTS = { clients: 16, rounds: 4, first: 64, creates: 320 } as const;
const WITH_POLICIES = { clients: 1, rounds: 20, first: 10, creates: 100, variants: ['nothing', 'rules'] } as const;
const POLICIES = [0, 100, 400];
const TARGETS = {
  p50: 'mutate, and what mutateAndValidate adds to it, at most resourceQuota; mutateValidateAndQuota at most twice that',
  oneClientP99Ms: 5,
  rulesOf100PoliciesAddedP50Ms: 1,
};

async function measure({ kubeconfig, folder }: Cluster): Promise<object> {
  await installPlimsoll(kubeconfig);
  const connection = await kubeconfigConnection(kubeconfig);
  const newClient = (): KubeClient => createClient(connection, { userAgent: 'plimsoll-bench' });
  const client = newClient();
  const webhook = await startInstalledWebhook({ folder, client, connection, failurePolicy: 'Ignore' });
  await prepare(client);
  await untilSliced(client, webhook);
  const loadBefore = loadavg();
  const webhooks = isRulesOnly
    ? {}
    : { oneClient: await measured(ONE_CLIENT), sixteenClients: await measured(SIXTEEN_CLIENTS) };
  const policies = await measuredWithPolicies();
  client.close();
  return { ...webhooks, policies, targets: TARGETS, loadBefore, loadAfter: loadavg() };

  async function measuredWithPolicies(): Promise<object> {
    const results: [number, object][] = [];
    for (const [index, count] of POLICIES.entries()) {
      await addPolicies(client, POLICIES[index - 1] ?? 0, count);
      results.push([count, report(await runRounds(newClient, WITH_POLICIES))]);
    }
    return Object.fromEntries(results);
  }

  async function measured(rounds: Rounds): Promise<object> {
    const before = await counted();
    const variants = report(await runRounds(newClient, rounds));
    const after = await counted();
    return {
      ...rounds,
      variants,
      charges: countsSince(before.charges, after.charges),
      within5MsOfApiServer: shareWithin5Ms(countsSince(before.asked, after.asked)),
      within5MsOfWebhook: shareWithin5Ms(countsSince(before.answered, after.answered)),
    };
  }

  async function counted() {
    const metrics = await webhook.metrics();
    return {
      charges: chargesOf(metrics),
      asked: await apiServerCalls(kubeconfig),
      answered: webhookCalls(metrics),
    };
  }
}

const isRulesOnly = process.argv[2] === 'rules';
const startup = await startCluster();
if (startup.kind === 'missing') throw new Error(`cannot measure: ${startup.because}`);
try {
  console.log(JSON.stringify(await measure(startup.cluster), undefined, 2));
} finally {
  await startup.cluster.close();
}
