import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentOf } from '#test/cluster/admission/support/agent-user.ts';
import type { AsUser } from '#test/cluster/admission/support/as-user.ts';
import { at, textAt, uniqueName } from '#test/contract/harness.ts';
import { expectHonestServed, expectWebhookUnharmed } from './expect-unharmed.ts';
import { type Asked, inRounds, withHonestUsers } from './honest-users.ts';
import { permittedPod, type Stage } from './stage.ts';

const AT_ONCE = 150;
const NODES = '/api/v1/nodes';
const REFUSED = [403, 429];
const CREATED = 201;
const TIMEOUT_MS = 60_000;

/** Whoever takes over a node has the token of its agent; all agents share one account. */
export function stolenToken(stage: Stage): void {
  describe('a flood of evictions with the token of one node, all refused', () => {
    const nodes = { stolen: uniqueName('stolen'), honest: uniqueName('honest') };
    const name = uniqueName('victim');
    const path = `${stage.honest.core('pods')}/${name}/eviction`;
    const agents: { thief?: AsUser; honest?: AsUser } = {};
    let uid = '';

    beforeAll(async () => {
      const { honest, objects } = stage;
      for (const node of Object.values(nodes)) await honest.post(NODES, { metadata: { name: node } });
      const { status, body } = await honest.post(
        honest.core('pods'),
        permittedPod(stage, { nodeName: nodes.honest }, { name }),
      );
      expect([status, at(body, 'message')]).toEqual([CREATED, undefined]);
      uid = textAt(body, 'metadata.uid');
      agents.thief = await agentOf(honest, objects, nodes.stolen);
      agents.honest = await agentOf(honest, objects, nodes.honest);
    });
    afterAll(async () => {
      for (const node of Object.values(nodes)) await stage.honest.remove(`${NODES}/${node}`);
      await stage.honest.remove(stage.honest.core(`pods/${name}`));
    });

    async function evict(agent: AsUser | undefined) {
      const answer = await agent?.('POST', `${path}?dryRun=All`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name },
        deleteOptions: { preconditions: { uid }, dryRun: ['All'] },
      });
      return { status: answer?.status ?? 0, message: String(at(answer?.body, 'message')) };
    }

    async function askHonestly(): Promise<Asked> {
      const startedAt = performance.now();
      const { status, message } = await evict(agents.honest);
      const outcome = status === CREATED ? '' : `evict ${status} ${message}`;
      return { outcome, elapsedMs: performance.now() - startedAt };
    }

    const flood = (asked: () => number) =>
      inRounds(asked, () => Promise.all(Array.from({ length: AT_ONCE }, () => evict(agents.thief))));

    function expectRefused(answers: readonly { readonly status: number }[]): void {
      expect(REFUSED).toEqual(expect.arrayContaining([...new Set(answers.map(({ status }) => status))]));
    }

    test('keeps no agent of another node from evicting', { timeout: TIMEOUT_MS }, async () => {
      const { honest, attack } = await withHonestUsers(stage, flood, askHonestly);
      expectRefused(attack);
      expectHonestServed(honest);
      expectWebhookUnharmed(stage);
    });

    test('keeps nobody from creating pods', { timeout: TIMEOUT_MS }, async () => {
      const { honest, attack } = await withHonestUsers(stage, flood);
      expectRefused(attack);
      expectHonestServed(honest);
      expectWebhookUnharmed(stage);
    });
  });
}
