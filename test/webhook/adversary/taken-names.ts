import { expect, onTestFinished, test } from 'vitest';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import { uniqueName } from '#test/contract/harness.ts';
import { expectHonestServed, expectWebhookUnharmed } from './expect-unharmed.ts';
import { withHonestUsers } from './honest-users.ts';
import { shareQuota } from './quota-stage.ts';
import { permittedPod, type Stage } from './stage.ts';
import { eventually } from '#test/build/waiting.ts';

/** More than one namespace gets of the list. */
const REQUESTS = 700;
/**
 * Slices pay for thousands of them, until the first are owed, ten seconds after a count did not find their pods. A busy
 * machine may need this long; the attack ends with the first refusal.
 */
const ATTACK_MS = 120_000;
const TOO_MANY_REQUESTS = 429;
const TIMEOUT_MS = 240_000;
const AT_ONCE = 20;
/** Of the thousand that a ledger may hold. */
const MAX_OF_ONE_NAMESPACE = 510;

/** The API server checks last whether a name is taken: such a pod is admitted, charged, and never created. */
export function takenNames(stage: Stage): void {
  test(
    'a tenant that creates the same pod again and again leaves room in the ledger for others',
    { timeout: TIMEOUT_MS },
    async () => {
      const quota = await shareQuota(stage, stage.classes.permitted, { pods: '100000' });
      onTestFinished(async () => {
        await quota.remove();
      });
      const pod = permittedPod(stage, {}, { name: uniqueName('taken') });
      const ask = () => stage.attacker()('POST', stage.tenant.core('pods'), pod);
      expect((await ask()).status).toBe(201);
      const statuses = new Set<number>();
      const { honest } = await withHonestUsers(stage, async () => {
        const end = performance.now() + ATTACK_MS;
        while (!statuses.has(TOO_MANY_REQUESTS) && performance.now() < end)
          for (const { status } of await inFlight(AT_ONCE, Array(REQUESTS).keys(), ask)) statuses.add(status);
      });
      expect([...statuses].toSorted()).toEqual([409, 429]);
      expectHonestServed(honest);
      await eventually(async () => expect((await quota.ledger()).reservations).toBeLessThan(MAX_OF_ONE_NAMESPACE));
      expectWebhookUnharmed(stage);
    },
  );
}
