import { expect, test } from 'vitest';
import { expectHonestServed, expectWebhookUnharmed } from './expect-unharmed.ts';
import { inRounds, withHonestUsers } from './honest-users.ts';
import { shareQuota } from './quota-stage.ts';
import { permittedPod, type Stage } from './stage.ts';

const AT_ONCE = 45;
const ARGUMENT_BYTES = 760 * 1024;
const TIMEOUT_MS = 60_000;
/** Allowed, refused for want of time or room, or not sent to the webhook any more. */
const ANSWERS = [201, 403, 429, 504];

/** A dry run costs as much as a create, stores nothing, and no quota ends it. */
export function dryRuns(stage: Stage): void {
  test(
    'a tenant that sends many large dry runs keeps nobody from being charged to a quota',
    { timeout: TIMEOUT_MS },
    async () => {
      const quota = await shareQuota(stage, stage.classes.permitted, { pods: '1000' });
      const path = `${stage.tenant.core('pods')}?dryRun=All`;
      const containers = [{ name: 'main', image: 'registry.test/idle:1', args: ['x'.repeat(ARGUMENT_BYTES)] }];
      const one = () => stage.attacker()('POST', path, permittedPod(stage, { containers }));
      const { honest, attack } = await withHonestUsers(stage, (asked) =>
        inRounds(asked, () => Promise.all(Array.from({ length: AT_ONCE }, one))),
      );
      expect(ANSWERS).toEqual(expect.arrayContaining([...new Set(attack.map(({ status }) => status))]));
      expectHonestServed(honest);
      expectWebhookUnharmed(stage);
      await quota.remove();
    },
  );
}
