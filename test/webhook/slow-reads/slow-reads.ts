import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { at } from '#test/contract/harness.ts';
import type { DelayingProxy } from '#test/fakes/delaying-proxy.ts';
import { forbiddenPod, permittedPod, type Stage } from '#test/webhook/adversary/stage.ts';
import { PHRASES } from '#shared/domain/admission/messages/priority-messages.ts';
import { ANY_NUMBER, patternOf } from '#test/build/pattern-of.ts';
import { eventually } from '#test/build/waiting.ts';

/** Longer than a read of the webhook may take, shorter than the API server waits for an answer. */
const DELAY_MS = 950;
const AS_OF = patternOf((anything) => `${anything}; ${PHRASES.unconfirmed(ANY_NUMBER, anything)}`);

/**
 * The webhook reads from an API server that answers late, whatever the reason. Registers tests in the present
 * `describe`; `proxy` stands between the webhook and the API server.
 */
export function slowReads(stage: Stage, proxy: () => DelayingProxy): void {
  describe(`an API server that answers ${DELAY_MS} ms late`, () => {
    const ask = (pod: object, place = stage.honest) =>
      place.post(place.core('pods'), pod, { query: { dryRun: 'All' } });
    let covered = '';
    /** Of a class whose ResourceQuota is full, which the webhook finds out before the plugin does. */
    const uncoveredPod = () => forbiddenPod(stage, { priorityClassName: covered });

    beforeAll(async () => {
      covered = await stage.objects.priorityClass('covered', 10);
      const matchExpressions = [{ scopeName: 'PriorityClass', operator: 'In', values: [covered] }];
      const spec = { hard: { pods: '0' }, scopeSelector: { matchExpressions } };
      const quotas = stage.honest.core('resourcequotas');
      await stage.honest.post(quotas, { metadata: { name: 'full' }, spec });
      const status = { hard: { pods: '0' }, used: { pods: '0' } };
      await stage.honest.patch(`${quotas}/full/status`, { status }, 'merge');
      await eventually(async () => expect((await ask(uncoveredPod())).status).toBe(403));
    });
    afterEach(() => {
      proxy().delayMs = 0;
    });

    test('refuses based on cached data, and says how old it is', async () => {
      proxy().delayMs = DELAY_MS;
      const answers = await Promise.all(Array.from({ length: 10 }, () => ask(uncoveredPod())));
      for (const { status, body } of answers) {
        expect([status, at(body, 'message')]).toEqual([403, expect.stringMatching(AS_OF)]);
      }
    });

    test('allows what needs no read', async () => {
      proxy().delayMs = DELAY_MS;
      expect((await ask(permittedPod(stage))).status).toBe(201);
      expect((await ask(permittedPod(stage), stage.tenant)).status).toBe(201);
    });

    test('omits that when the API server is fast again', async () => {
      const { status, body } = await ask(uncoveredPod());
      expect([status, at(body, 'message')]).toEqual([403, expect.not.stringMatching(AS_OF)]);
    });
  });
}
