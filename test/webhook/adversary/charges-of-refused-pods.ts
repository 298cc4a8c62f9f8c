import { expect, test } from 'vitest';
import { at } from '#test/contract/harness.ts';
import { expectWebhookUnharmed } from './expect-unharmed.ts';
import { shareQuota } from './quota-stage.ts';
import { forbiddenPod, type Stage } from './stage.ts';

const ROOM = 5;
const REQUESTS = 4 * ROOM;

/** The entry that charges quotas is called at the same time as the one that refuses, not after it. */
export function chargesOfRefusedPods(stage: Stage): void {
  test('a tenant that may not use a class cannot fill its quota by requesting it', async () => {
    const quota = await shareQuota(stage, stage.classes.forbidden, { pods: String(ROOM) });
    const ask = () => stage.attacker()('POST', stage.tenant.core('pods'), forbiddenPod(stage));
    const attack = await Promise.all(Array.from({ length: REQUESTS }, ask));
    expect(new Set(attack.map(({ status }) => status))).toEqual(new Set([403]));
    expect(await quota.ledger()).toEqual({ used: { pods: '0' }, reservations: 0 });
    const { honest } = stage;
    for (let created = 0; created < ROOM; created += 1) {
      const { status, body } = await honest.post(honest.core('pods'), forbiddenPod(stage));
      expect([status, at(body, 'message')]).toEqual([201, undefined]);
    }
    expectWebhookUnharmed(stage);
    await quota.remove();
  });
}
