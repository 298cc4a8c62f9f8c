import { one } from '#test/shared/domain/preemption/one-pod.ts';
import type { DisruptionBudget } from '#shared/domain/snapshot/placed-pod.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { ProposalRules } from '#shared/domain/preemption/proposal/proposal.ts';
import { reviewProposal } from '#shared/domain/preemption/proposal/review-proposal.ts';
import type { NodePressureFacts } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { buildNode, buildPod, type PodFields } from '#test/build/cluster.ts';
import { buildPressure } from '#test/build/node-pressure.ts';

const OPTED_OUT = { code: 'ProtectedOptOut', text: 'the pod asked never to be evicted', facts: {} };
export const RULES: ProposalRules = {
  protection: ({ labels }) => (labels.has('stay') ? OPTED_OUT : undefined),
  budgets: 'BestEffort',
  usageAware: false,
  tieBreak: 'none',
};
export const STAYS = { labels: { stay: 'yes' } };

export interface Case {
  readonly pods: readonly PodFields[];
  readonly proposed: readonly string[];
  readonly rules?: Partial<ProposalRules>;
  readonly budgets?: readonly DisruptionBudget[];
  readonly budgetViolations?: number;
  readonly pressure?: Partial<NodePressureFacts>;
  readonly now?: number;
  /** In place of a pod that needs one CPU. */
  readonly incoming?: Partial<PodFields>;
  /** For how long the pod has been put off there. */
  readonly waited?: number;
}

/** Of one node with two CPUs, for a pod that needs one unless said otherwise. */
export function review(situation: Case) {
  const { pods, proposed, rules, budgets = [], budgetViolations = 0, pressure, now = 0, waited = 0 } = situation;
  const nodes = [buildNode({ name: 'n0', allocatable: { cpu: '2', memory: '4Gi' } })];
  const built = pods.map(buildPod);
  const snapshot = createSnapshot({ nodes, pods: built, budgets });
  if (pressure !== undefined) snapshot.pressures.set('n0', buildPressure('n0', pressure));
  const names = new Map(built.map(({ uid, name }) => [uid, name]));
  const uids = proposed.map((name) => built.find((pod) => pod.name === name)?.uid ?? name);
  const incoming = buildPod({ name: 'incoming', priority: 10, requests: { cpu: '1' }, ...situation.incoming });
  const proposal = [{ node: 'n0', uids, budgetViolations }];
  const verdicts = reviewProposal(
    snapshot,
    { pod: incoming, proposal, now, waitedFor: () => waited },
    { ...RULES, ...rules },
  );
  return verdicts.map((verdict) =>
    verdict.kind === 'removed'
      ? verdict.because.code
      : [verdict.kind, verdict.victims.uids.map((uid) => names.get(uid)), verdict.victims.budgetViolations],
  );
}

export const ENDING = { deletion: { at: 30_000, gracePeriodSeconds: 30 } };
export const half = (name: string, fields: Partial<PodFields> = {}) =>
  one(name, { requests: { cpu: '500m' }, ...fields });

export const evicting = (...names: readonly string[]) => new Set(names.map((name) => `uid-${name}`));
export const enforced = { isEnforced: true, observedAt: 0 };
