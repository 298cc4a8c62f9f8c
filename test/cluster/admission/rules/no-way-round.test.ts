import { describe } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { contractHarness } from '#test/contract/harness.ts';
import { customKind } from '#test/webhook/no-way-round/custom-kind.ts';
import { noWayRound } from '#test/webhook/no-way-round/no-way-round.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';

describe.skipIf(!hasCluster())('a class that a user may not use, with the real controllers', () => {
  const target = clusterTarget();
  registeredWebhooks(contractHarness(target));
  noWayRound(target);
  customKind(target);
});
