import { expect, test } from 'vitest';
import { asUser } from '#test/cluster/admission/support/as-user.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { expectHonestServed, expectWebhookUnharmed } from './expect-unharmed.ts';
import { withHonestUsers } from './honest-users.ts';
import { shareQuota } from './quota-stage.ts';
import { permittedPod, type Stage } from './stage.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

/** No field of an owner reference is limited in length, and all can be patched after admission. */
const LONG = 'n'.repeat(5_000);
const OWNERS = [{ apiVersion: LONG, kind: LONG, name: LONG, uid: LONG }];
/** Quickly used up if no count succeeds. */
const PLACES = '12';
const ATTACK_MS = 5_000;
const TIMEOUT_MS = 90_000;
const COUNTED_MS = 20_000;

/** A pod whose owner has a name of 5,000 characters: valid, stored, and read by every count. */
export function poisonedPod(stage: Stage): void {
  test(
    'a tenant whose pod has an owner with a name of 5,000 characters blocks no other user',
    { timeout: TIMEOUT_MS },
    async () => {
      const { tenant, classes } = stage;
      await tenant.remove(tenant.core('pods'));
      const quota = await shareQuota(stage, classes.permitted, { pods: PLACES });
      const path = await createPod(stage);
      const { status, body } = await tenant.patch(path, { metadata: { ownerReferences: OWNERS } }, 'merge');
      expect([status, at(body, 'message')]).toEqual([200, undefined]);
      const { honest } = await withHonestUsers(stage, () => letTimePass(ATTACK_MS, 'load'));
      expectHonestServed(honest);
      const counted = { used: { pods: '1' }, reservations: 0 };
      await eventually(async () => expect(await quota.ledger()).toEqual(counted), COUNTED_MS);
      expectWebhookUnharmed(stage);
      await tenant.remove(path);
      await quota.remove();
    },
  );

  test('a pod whose owner has a name of 5,000 characters is preempted like any', { timeout: TIMEOUT_MS }, async () => {
    const path = await createPod(stage);
    await stage.tenant.patch(path, { metadata: { ownerReferences: OWNERS } }, 'merge');
    const deleted = await asUser(stage.target().connection, 'system:kube-scheduler')('DELETE', path);
    expect([deleted.status, at(deleted.body, 'message')]).toEqual([200, undefined]);
  });
}

async function createPod(stage: Stage): Promise<string> {
  const { status, body } = await stage.attacker()('POST', stage.tenant.core('pods'), permittedPod(stage));
  expect([status, at(body, 'message')]).toEqual([201, undefined]);
  return stage.tenant.core(`pods/${textAt(body, 'metadata.name')}`);
}
