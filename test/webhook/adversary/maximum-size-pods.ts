import { expect, test } from 'vitest';
import { textAt } from '#test/contract/harness.ts';
import { expectHonestServed, expectWebhookUnharmed } from './expect-unharmed.ts';
import { withHonestUsers } from './honest-users.ts';
import { shareQuota } from './quota-stage.ts';
import { permittedPod, type Stage } from './stage.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

const PODS = 44;
const QUOTAS = 3;
/** Just below what etcd takes. */
const BYTES = 1.3 * 1024 * 1024;
const VALUE_BYTES = 64 * 1024;
const ATTACK_MS = 10_000;
const TIMEOUT_MS = 300_000;
const CREATED = 201;
const TOO_MANY_REQUESTS = 429;
const AGAIN_AFTER_MS = 500;
const COUNTED_MS = 20_000;

/** Counting reads all pods, and several quotas may be counted at once. */
export function maximumSizePods(stage: Stage): void {
  test(
    'a tenant with pods of maximum size crashes no process, and blocks no other user',
    { timeout: TIMEOUT_MS },
    async () => {
      const { tenant, classes } = stage;
      await tenant.remove(tenant.core('pods'));
      const hard = { pods: '1000' };
      const quotas = [];
      for (let made = 0; made < QUOTAS; made += 1) quotas.push(await shareQuota(stage, classes.permitted, hard));
      const names = await createAll(stage);
      const { honest } = await withHonestUsers(stage, () => letTimePass(ATTACK_MS, 'load'));
      expectHonestServed(honest);
      expectWebhookUnharmed(stage);
      for (const quota of quotas)
        await eventually(async () => expect((await quota.ledger()).used).toEqual({ pods: String(PODS) }), COUNTED_MS);
      for (const name of names) await tenant.remove(tenant.core(`pods/${name}`));
      for (const quota of quotas) await quota.remove();
    },
  );
}

async function createAll(stage: Stage): Promise<readonly string[]> {
  const env = Array.from({ length: BYTES / VALUE_BYTES }, (_, index) => ({
    name: `V${index}`,
    value: 'x'.repeat(VALUE_BYTES),
  }));
  const containers = [{ name: 'main', image: 'registry.test/idle:1', env }];
  const names: string[] = [];
  while (names.length < PODS) {
    const pod = permittedPod(stage, { containers });
    const { status, body } = await stage.attacker()('POST', stage.tenant.core('pods'), pod);
    // A request this large may have to retry, because it is read alone.
    expect([CREATED, TOO_MANY_REQUESTS]).toContain(status);
    if (status === CREATED) names.push(textAt(body, 'metadata.name'));
    else await letTimePass(AGAIN_AFTER_MS, 'load');
  }
  return names;
}
