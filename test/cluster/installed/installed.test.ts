import { describe, expect, test } from 'vitest';
import { WEBHOOK } from '#test/cluster/support/accounts.ts';
import { installPlimsoll } from '#test/cluster/support/install.ts';
import { whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { at, eventually } from '#test/contract/harness.ts';
import { accountRights } from './account-rights.ts';
import { agentEvictions } from './agent-evictions.ts';
import { agentPolicies } from './agent-policies.ts';
import { namespaceLabels } from './namespace-labels.ts';
import { certManager } from './cert-manager.ts';
import { ownConfigurations } from './own-configurations.ts';
import { nodeMirrors } from './node-mirrors.ts';
import { auditedRequests } from './audited-requests.ts';
import { rulesOnly } from './rules-only.ts';
import { installedCluster, OTHER_NODE, OWN_NODE } from './installed-cluster.ts';

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
  auditedRequests(installed);
});
