import { expect, test } from 'vitest';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import { type NodePod, policy } from '#test/agent/node-scene.ts';
import { whoWent } from '#test/shared/decide/eviction/episode.ts';

const within: NodePod = { name: 'within', requests: { memory: '600Mi' }, usageMiB: 500 };
const above: NodePod = { name: 'above', priority: 1000, requests: { memory: '10Mi' }, usageMiB: 20 };
const MILD = 150;
const SEVERE = 20;

function rules(withinRequest: boolean): AgentPolicy {
  return policy({ protect: { namespaces: [], optOutCeiling: 1000, optOut: 'WithinRequest', withinRequest } });
}

/** Both passes see the same shortage; the second one is after the grace period of the soft threshold. */
function whoGoes(availableMiB: number, pods: readonly NodePod[], withinRequest: boolean): readonly string[] {
  const moments = [0, 31_000].map((now) => ({ now, availableMiB, pods }));
  return whoWent(moments, rules(withinRequest)).flat();
}

test('a pod within its request is protected in the mild stage only if the policy says so', () => {
  expect(whoGoes(MILD, [within], true)).toEqual([]);
  expect(whoGoes(MILD, [within], false)).toEqual(['within']);
});

test('a pod above its request is evicted all the same', () => {
  expect(whoGoes(MILD, [within, above], true)).toEqual(['above']);
});

test('the protection does not apply in the severe stage, where the alternative is the OOM killer', () => {
  expect(whoGoes(SEVERE, [within], true)).toEqual(['within']);
});
