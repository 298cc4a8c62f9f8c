import { describe, expect, test } from 'vitest';
import { eventually } from '#test/contract/harness.ts';
import { countReadyNodes, makeFakeNodes } from './fake-nodes.ts';
import { ownCluster, whyNoOwnCluster } from './own-cluster.ts';

const COUNT = 500;

const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`fake nodes${why ?? ''}`, () => {
  const own = ownCluster();

  test(`${COUNT} of them become Ready, and the scheduler may use them`, async () => {
    const { admin } = own();
    await makeFakeNodes(admin, 'node', COUNT);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(COUNT), 15_000);
  });
});
