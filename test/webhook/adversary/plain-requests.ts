import { expect, test } from 'vitest';
import { at } from '#test/contract/harness.ts';
import { expectHonestServed, expectWebhookUnharmed } from './expect-unharmed.ts';
import { withHonestUsers } from './honest-users.ts';
import { forbiddenPod, permittedPod, type Stage } from './stage.ts';
import { eventually } from '#test/build/waiting.ts';

const REQUESTS = 100;

/** The baseline attack: the tenant requests a class that it may not use, again and again. */
export function plainRequests(stage: Stage): void {
  test('a tenant that requests a forbidden class again and again is refused, and disturbs no other namespace', async () => {
    const ask = (pod: object) => stage.attacker()('POST', stage.tenant.core('pods'), pod);
    await eventually(async () => expect((await ask(forbiddenPod(stage))).status).toBe(403));
    expect((await ask(permittedPod(stage))).status).toBe(201);
    const { honest, attack } = await withHonestUsers(stage, () =>
      Promise.all(Array.from({ length: REQUESTS }, () => ask(forbiddenPod(stage)))),
    );
    expect(new Set(attack.map(({ status, body }) => `${status} ${String(at(body, 'reason'))}`))).toEqual(
      new Set(['403 Forbidden']),
    );
    expectHonestServed(honest);
    expectWebhookUnharmed(stage);
  });
}
