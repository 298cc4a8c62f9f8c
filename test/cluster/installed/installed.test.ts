import { describe, expect, test } from 'vitest';
import { WEBHOOK } from '#test/cluster/support/accounts.ts';
import { installPlimsoll } from '#test/cluster/support/install.ts';
import { whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { at } from '#test/contract/harness.ts';
import { accountRights } from './parts/account-rights.ts';
import { agentEvictions } from './parts/agent-evictions.ts';
import { agentPolicies } from './parts/agent-policies.ts';
import { namespaceLabels } from './parts/namespace-labels.ts';
import { certManager } from './parts/cert-manager.ts';
import { ownConfigurations } from './parts/own-configurations.ts';
import { eventReporters } from './parts/event-reporters.ts';
import { nodeMirrors } from './parts/node-mirrors.ts';
import { auditedRequests } from './parts/audited-requests.ts';
import { rulesOnly } from './parts/rules-only.ts';
import { installedCluster, OTHER_NODE, OWN_NODE } from './support/installed-cluster.ts';
import { eventually } from '#test/build/waiting.ts';

const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`deploy/base on a real control plane${why ?? ''}`, () => {
  const installed = installedCluster();
  const { own, agentPodOn } = installed;

  test('the pods of Deployment and DaemonSet pass quota and pod security', async () => {
    await agentPodOn(OWN_NODE);
    await agentPodOn(OTHER_NODE);
    await eventually(async () => {
      const found = await own().admin.request({ path: `/api/v1/namespaces/${WEBHOOK.namespace}/pods` });
      expect(at(found, 'object.items')).toHaveLength(2);
    });
  });

  test('it can be installed over itself', async () => {
    await expect(installPlimsoll(own().cluster.kubeconfig)).resolves.toBeUndefined();
  });

  accountRights(installed);
  ownConfigurations(installed);
  rulesOnly(installed);
  certManager(installed);
  namespaceLabels(installed);
  agentPolicies(installed);
  nodeMirrors(installed);
  agentEvictions(installed);
  eventReporters(installed);
  auditedRequests(installed);
});
