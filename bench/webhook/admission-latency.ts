/**
 * What admission adds to a pod create on a real API server: by nothing, the rules in the API server without any webhook,
 * the in-tree ResourceQuota, our mutating entry, with our validating one, and with a PriorityQuota; all but the first and
 * the ResourceQuota with those rules. One client for latency, 16 for throughput; and what the rules of 0, 100 and 400
 * PriorityPolicies add. With the argument `rules` the last alone; with `both` what admission adds in the modes Both and
 * InProcess, with 100 policies, and the floor: two policies of Kubernetes that decide nothing; with `namespaces` what
 * InProcess adds where 1, 10, 100 and 1,000 policies each select a namespace by its name. JSON on stdout.
 */
import { loadavg } from 'node:os';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';
import { type Cluster, startCluster } from '#test/cluster/support/control-plane/cluster.ts';
import { installPlimsoll } from '#test/cluster/support/install.ts';
import { startInstalledWebhook } from '#test/cluster/support/installed-webhook.ts';
import { apiServerCalls, shareWithin5Ms, webhookCalls } from './admission/calls.ts';
import { countsSince } from './admission/counts.ts';
import { addFloor } from './admission/floor.ts';
import { addPolicies, byName, prepare, switchToBoth } from './admission/prepare.ts';
import { report } from './admission/report.ts';
import { serverCpu } from './admission/server-cpu.ts';
import { type Rounds, runRounds } from './admission/run-rounds.ts';
import { chargesOf, untilSliced } from './admission/slices.ts';
import { BOTH_VARIANTS, type Variant, WEBHOOK_VARIANTS } from './admission/variants.ts';

/** What comes first in a block is enough for a replica to take its slice of the quota again. */
const ONE_CLIENT = { clients: 1, rounds: 30, first: 20, creates: 100 } as const;
const SIXTEEN_CLIENTS = { clients: 16, rounds: 4, first: 64, creates: 320 } as const;
const WITH_POLICIES = { clients: 1, rounds: 20, first: 10, creates: 100 } as const;
const POLICIES = [0, 100, 400];
const POLICIES_IN_BOTH = 100;
const GOVERNED = [1, 10, 100, 1_000];
const IN_NAMESPACES = { clients: 1, rounds: 10, first: 10, creates: 60 } as const;
const IN_PROCESS_VARIANTS = BOTH_VARIANTS.filter(({ name }) =>
  ['nothing', 'resourceQuota', 'inProcess'].includes(name),
);
const RULES_VARIANTS = WEBHOOK_VARIANTS.filter(({ name }) => ['nothing', 'rules'].includes(name));
const TARGETS = {
  p50: 'mutate, and what mutateAndValidate adds to it, at most resourceQuota; mutateValidateAndQuota at most twice that',
  oneClientP99Ms: 5,
  rulesOf100PoliciesAddedP50Ms: 1,
  both: 'both and inProcess at most 0.8 of resourceQuota and at least 0.9 of its rate; bothAndQuota 1.3 and 0.6',
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
  const figures = await measuredParts();
  client.close();
  return { ...figures, targets: TARGETS, loadBefore, loadAfter: loadavg() };

  function measuredParts(): Promise<object> {
    if (part === 'namespaces') return measuredInNamespaces();
    return part === 'both' ? measuredInBoth() : measuredInWebhook();
  }

  async function measuredInNamespaces(): Promise<object> {
    const results: [number, object][] = [];
    const inNamespaces = { ...IN_NAMESPACES, variants: IN_PROCESS_VARIANTS, serverCpu: serverCpu(connection.server) };
    for (const [index, count] of GOVERNED.entries()) {
      await addPolicies(client, GOVERNED[index - 1] ?? 0, count, byName);
      if (index === 0) await switchToBoth(client);
      results.push([count, report(await runRounds(newClient, inNamespaces))]);
    }
    return { governedNamespaces: Object.fromEntries(results) };
  }

  async function measuredInBoth(): Promise<object> {
    await addPolicies(client, 0, POLICIES_IN_BOTH);
    await addFloor(client);
    await switchToBoth(client);
    return measuredWays(BOTH_VARIANTS);
  }

  async function measuredInWebhook(): Promise<object> {
    const ways = part === 'rules' ? {} : await measuredWays(WEBHOOK_VARIANTS);
    return { ...ways, policies: await measuredWithPolicies() };
  }

  async function measuredWays(variants: readonly Variant[]): Promise<object> {
    const oneClient = await measured({ ...ONE_CLIENT, variants });
    return { oneClient, sixteenClients: await measured({ ...SIXTEEN_CLIENTS, variants }) };
  }

  async function measuredWithPolicies(): Promise<object> {
    const results: [number, object][] = [];
    for (const [index, count] of POLICIES.entries()) {
      await addPolicies(client, POLICIES[index - 1] ?? 0, count);
      results.push([count, report(await runRounds(newClient, { ...WITH_POLICIES, variants: RULES_VARIANTS }))]);
    }
    return Object.fromEntries(results);
  }

  async function measured({ variants: ways, ...size }: Rounds): Promise<object> {
    const before = await counted();
    const variants = report(
      await runRounds(newClient, { ...size, variants: ways, serverCpu: serverCpu(connection.server) }),
    );
    const after = await counted();
    return {
      ...size,
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

const part = process.argv[2];
const startup = await startCluster();
if (startup.kind === 'missing') throw new Error(`cannot measure: ${startup.because}`);
try {
  console.log(JSON.stringify(await measure(startup.cluster), undefined, 2));
} finally {
  await startup.cluster.close();
}
