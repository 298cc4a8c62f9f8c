import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type {
  NodeVerdict,
  ProposalRules,
  ProposedVictims,
  WaitedFor,
} from '#shared/domain/preemption/proposal/proposal.ts';
import type { IdleFor } from '#shared/domain/preemption/set-aside/awaited-nominations.ts';
import { reviewByStaleView } from '#shared/domain/preemption/proposal/as-proposed.ts';
import { reviewProposal } from '#shared/domain/preemption/proposal/review-proposal.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import type { Verb } from './extender-listener.ts';
import { decodePreemptionArgs, encodePreemptionResult, type PreemptionArgs } from './preemption-args.ts';
import type { Undecided, WhyUndecided } from './why-undecided.ts';

export interface PreemptOptions {
  readonly snapshot: ClusterSnapshot;
  readonly whyUndecided: WhyUndecided;
  readonly rules: ProposalRules;
  readonly idleFor: IdleFor;
  readonly waitedFor: WaitedFor;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Looks at each proposal that is reviewed. */
  readonly reportLoops: (proposed: PreemptionArgs) => void;
}

/** The verb `preempt`: takes `ExtenderPreemptionArgs`, answers with the remaining nodes and victims. */
export function preemptVerb(options: PreemptOptions): Verb {
  const { whyUndecided, metrics } = options;
  const nodes = metrics.counter(
    'plimsoll_extender_nodes_total',
    'Nodes that kube-scheduler proposed for a preemption, by what became of them',
    ['verdict'],
  );
  return (raw, isOverloaded) => {
    const args = decodePreemptionArgs(raw);
    if (!args.ok) return { ok: false, error: `cannot read ${args.field}: ${args.message}` };
    const reviewed = review(options, args.value, whyUndecided('preempt', isOverloaded));
    for (const [verdict, count] of countKinds(reviewed)) nodes.add({ verdict }, count);
    return { ok: true, value: encodePreemptionResult(reviewed.flatMap(victimsLeft)) };
  };
}

function review(
  { snapshot, rules, idleFor, waitedFor, clock, log, reportLoops }: PreemptOptions,
  args: PreemptionArgs,
  undecided: Undecided | undefined,
): readonly NodeVerdict[] {
  if (undecided === 'Unsynced' || undecided === 'Overloaded') return asProposed(args);
  const decide = undecided === 'Stale' ? reviewByStaleView : reviewProposal;
  const reviewed = decide(snapshot, { ...args, now: clock.now(), idleFor, waitedFor }, rules);
  report(log, args, reviewed);
  reportLoops(args);
  return reviewed;
}

function asProposed({ proposal }: PreemptionArgs): readonly NodeVerdict[] {
  return proposal.map((victims) => ({ kind: 'kept', victims }));
}

function countKinds(reviewed: readonly NodeVerdict[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { kind } of reviewed) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

function victimsLeft(verdict: NodeVerdict): readonly ProposedVictims[] {
  return verdict.kind === 'takenAway' ? [] : [verdict.victims];
}

function report(log: Log, { pod }: PreemptionArgs, reviewed: readonly NodeVerdict[]): void {
  for (const verdict of reviewed) {
    if (verdict.kind === 'kept') continue;
    const node = verdict.kind === 'changed' ? verdict.victims.node : verdict.node;
    const { code, text } = verdict.because;
    log.info({ pod: `${pod.namespace}/${pod.name}`, node, verdict: verdict.kind, code, text }, 'Preemption reviewed');
  }
}
