import { describe } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { contractHarness } from '#test/contract/harness.ts';
import { stage } from '#test/webhook/adversary/stage.ts';
import { slowReads } from '#test/webhook/slow-reads/slow-reads.ts';
import { slowConnection } from '#test/webhook/slow-reads/slow-connection.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';

describe.skipIf(!hasCluster())('the webhook and a slow API server', () => {
  const target = clusterTarget();
  const { toApiServer, proxy } = slowConnection();
  const webhooks = registeredWebhooks(contractHarness(target), { toApiServer });
  const webhook = () => {
    const [only] = webhooks.processes;
    if (only === undefined) throw new Error('the webhook is not up');
    return only;
  };
  slowReads(stage({ target, webhook }), proxy);
});
