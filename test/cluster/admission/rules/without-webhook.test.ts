import { describe } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { contractHarness } from '#test/contract/harness.ts';
import { noWayRound } from '#test/webhook/no-way-round/no-way-round.ts';
import { untilEnforced } from '#test/webhook/no-way-round/until-enforced.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';

describe.skipIf(!hasCluster())('a class that a user may not use, while the webhook is dead', () => {
  const target = clusterTarget();
  const api = contractHarness(target);
  const webhooks = registeredWebhooks(api);
  noWayRound(target, async () => {
    await untilEnforced(api);
    await webhooks.kill();
  });
});
