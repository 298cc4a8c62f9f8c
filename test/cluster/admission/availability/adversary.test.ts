import { describe } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { contractHarness } from '#test/contract/harness.ts';
import { ATTACKS } from '#test/webhook/adversary/attacks.ts';
import { stage } from '#test/webhook/adversary/stage.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';

describe.skipIf(!hasCluster())('a tenant with the edit role, on the real API server', () => {
  const target = clusterTarget();
  const webhooks = registeredWebhooks(contractHarness(target));
  const webhook = () => {
    const [only] = webhooks.processes;
    if (only === undefined) throw new Error('the webhook is not up');
    return only;
  };
  const here = stage({ target, webhook });
  for (const attack of ATTACKS) attack(here);
});
