import { describe, expect, test } from 'vitest';
import { at } from '#test/contract/harness.ts';
import { expectHonestServed, expectWebhookUnharmed } from './expect-unharmed.ts';
import { withHonestUsers } from './honest-users.ts';
import { forbiddenPod, type Stage } from './stage.ts';

const ANNOTATION_BYTES = 200 * 1024;
/** This many at a time, and twice as many in total. */
const AT_ONCE = [80, 300];
const TIMEOUT_MS = 120_000;
/** The API server gives up on requests for which it has no time. */
const REFUSED = ['403 Forbidden', '429 TooManyRequests', '504 Timeout'];

/** The tenant sends so much at once that the webhook cannot read all of it. */
export function largeRequests(stage: Stage): void {
  describe('a tenant that sends large pods', () => {
    const annotations = { padding: 'x'.repeat(ANNOTATION_BYTES) };

    async function askAgainAndAgain(times: number): Promise<readonly string[]> {
      const answers: string[] = [];
      for (let time = 0; time < times; time += 1) {
        const { status, body } = await stage.attacker()(
          'POST',
          stage.tenant.core('pods'),
          forbiddenPod(stage, {}, { annotations }),
        );
        answers.push(`${status} ${String(at(body, 'reason'))}`);
      }
      return answers;
    }

    test.each(AT_ONCE)(
      '%i at once, gets no forbidden class, and blocks no other user',
      { timeout: TIMEOUT_MS },
      async (atOnce) => {
        const { honest, attack } = await withHonestUsers(stage, () =>
          Promise.all(Array.from({ length: atOnce }, () => askAgainAndAgain(2))),
        );
        expect(REFUSED).toEqual(expect.arrayContaining([...new Set(attack.flat())]));
        expect(attack.flat()).toContain('403 Forbidden');
        const stored = await stage.tenant.get(stage.tenant.core('pods'));
        const classes = (at(stored.body, 'items') as readonly object[]).map((pod) => at(pod, 'spec.priorityClassName'));
        expect(classes).not.toContain(stage.classes.forbidden);
        expectHonestServed(honest);
        expectWebhookUnharmed(stage);
      },
    );
  });
}
