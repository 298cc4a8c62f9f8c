import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '#test/build/waiting.ts';
import { fastClock } from '#test/fakes/fast-clock.ts';
import { type RunningWebhook, runWebhook } from '#test/webhook/support/webhook-process.ts';

const POLICIES = '/apis/plimsoll.dev/v1alpha1/nodepressurepolicies';
const PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';
const RULE = 'memory.available < 900Mi for 0 s reclaim nothing';
const PATIENCE_MS = 40_000;

/** What the agent of a node reports about the threshold of policy `batch`. */
function report(name: string, rule: object) {
  const entry = { rule: RULE, confirmed: false, policy: 'batch', generation: 2, mode: 'Enforce', ...rule };
  return { metadata: { name }, status: { policy: 'batch', rules: [entry] } };
}

describe('the leader of the webhook records a threshold that a node meets when it comes into force', () => {
  let webhook: RunningWebhook;
  afterEach(() => webhook.stop());

  async function start(nodes: readonly ReturnType<typeof report>[], status?: object): Promise<void> {
    webhook = await runWebhook(
      (api) => {
        const spec = {
          mode: 'Enforce',
          evictionHard: { 'memory.available': '900Mi', 'allocatableMemory.available': '0%' },
        };
        api.put(POLICIES, { metadata: { name: 'batch', generation: 2 }, spec, status });
        for (const node of nodes) api.put(PRESSURES, node);
      },
      {},
      undefined,
      fastClock(10),
    );
  }

  const status = (): unknown => webhook.api.get(POLICIES, 'batch')?.['status'];
  const becomes = (expected: object): Promise<void> =>
    eventually(() => expect(status()).toMatchObject(expected), PATIENCE_MS);

  test('names the nodes, and confirms it when the last of them is relieved', { timeout: 120_000 }, async () => {
    await start([
      report('full', {}),
      report('empty', { confirmed: true }),
      report('new', { heldBy: 'Policy' }),
      { ...report('other', {}), status: { ...report('other', {}).status, policy: 'gpu' } },
    ]);
    const condition = {
      type: 'ThresholdsConfirmed',
      status: 'False',
      reason: 'MetOnArrival',
      observedGeneration: 2,
      message: expect.stringMatching(`^${RULE} was already met on node full when generation 2`) as string,
    };
    await becomes({
      thresholds: [{ rule: RULE, state: 'Held', generation: 2, nodes: ['full'] }],
      conditions: [condition],
    });
    webhook.api.put(PRESSURES, report('full', { heldBy: 'Policy' }));
    await becomes({
      thresholds: [{ rule: RULE, state: 'Confirmed', nodes: [] }],
      conditions: [{ type: 'ThresholdsConfirmed', status: 'True', reason: 'NoneHeld' }],
    });
  });

  test('does not hold what is confirmed, whatever a node reports', { timeout: 60_000 }, async () => {
    const record = { rule: RULE, state: 'Confirmed', generation: 1, since: '2026-01-01T00:00:00.000Z', nodes: [] };
    await start([report('liar', {})], { thresholds: [record] });
    await becomes({ conditions: [{ type: 'ThresholdsConfirmed', status: 'True' }] });
    expect(status()).toMatchObject({ thresholds: [record] });
  });
});
