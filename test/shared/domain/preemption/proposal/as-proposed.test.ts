import { expect, test } from 'vitest';
import type { ProposalRules } from '#shared/domain/preemption/proposal/proposal.ts';
import { finish } from '#shared/domain/base/steps.ts';
import { reviewByProtection } from '#shared/domain/preemption/proposal/as-proposed.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { buildNode, buildPod } from '#test/build/cluster.ts';

const OPTED_OUT = { code: 'ProtectedOptOut', text: 'the pod opted out', facts: {} };
const RULES: ProposalRules = {
  protection: ({ name }) => (name === 'protected' ? OPTED_OUT : undefined),
  budgets: 'Hard',
  usageAware: false,
  tieBreak: 'none',
};
const one = (name: string) => buildPod({ name, node: 'n0', priority: 0, requests: { cpu: '1' } });

/** Of a node where `ordinary` would do as well as `protected`, for a pod that needs the room of one. */
function review(uids: readonly string[], budgetViolations = 0) {
  const nodes = [buildNode({ name: 'n0', allocatable: { cpu: '2' } })];
  const snapshot = createSnapshot({ nodes, pods: [one('protected'), one('ordinary')] });
  const pod = buildPod({ name: 'incoming', priority: 10, requests: { cpu: '1' } });
  const victims = { node: 'n0', uids, budgetViolations };
  const [verdict] = finish(reviewByProtection(snapshot, { pod, proposal: [victims], now: 0 }, RULES));
  return verdict?.kind === 'removed' ? verdict.because.code : verdict;
}

test.each([
  ['a known victim', ['uid-ordinary']],
  ['a victim that is not known', ['uid-new']],
])('%s stays as it was proposed', (_, uids) => {
  expect(review(uids)).toEqual({ kind: 'kept', victims: { node: 'n0', uids, budgetViolations: 0 } });
});

test('a protected victim takes the node away, although another pod would do: that one may have gone', () => {
  expect(review(['uid-new', 'uid-protected'])).toBe('ProtectedOptOut');
});

test('hard budgets hold by the count of kube-scheduler', () => {
  expect(review(['uid-new'], 1)).toBe('OverBudget');
});
