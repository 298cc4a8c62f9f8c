import { describe } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { contractHarness } from '#test/contract/harness.ts';
import { ATTACKS, LONG_ATTACKS } from '#test/webhook/adversary/attacks.ts';
import { dryRuns } from '#test/webhook/adversary/dry-runs.ts';
import { stage } from '#test/webhook/adversary/stage.ts';
import { stolenToken } from '#test/webhook/adversary/stolen-token.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';

/**
 * For `npm run bench -- adversary` on a machine with processors to spare: such a load overwhelms an API server that
 * shares two of them with the webhook and the attackers.
 */
const OF_THE_BENCHMARK = process.env['PLIMSOLL_ADVERSARY_FIGURES'] === undefined ? [] : [dryRuns, stolenToken];

describe.skipIf(!hasCluster())('a tenant with the edit role, on the real API server', () => {
  const target = clusterTarget();
  const webhooks = registeredWebhooks(contractHarness(target));
  const webhook = () => {
    const [only] = webhooks.processes;
    if (only === undefined) throw new Error('the webhook is not up');
    return only;
  };
  const here = stage({ target, webhook });
  for (const attack of [...ATTACKS, ...LONG_ATTACKS, ...OF_THE_BENCHMARK]) attack(here);
});
