import type { Steps } from '#shared/domain/base/steps.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type {
  NodeVerdict,
  Proposal,
  ProposalRules,
  ProposedVictims,
  WaitedFor,
} from '#shared/domain/preemption/proposal/proposal.ts';
import { leaveSetAside, reviewByProtection } from '#shared/domain/preemption/proposal/as-proposed.ts';
import type { IdleFor, IncomingPod } from '#shared/domain/preemption/set-aside/set-aside-room.ts';
import { reviewInSteps } from '#shared/domain/preemption/proposal/review-proposal.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { type ExtenderRequest, unreadable, type Verb, type DecideOr, type Undecided } from './extender-listener.ts';
import { encodePreemptionResult, type PreemptionArgs, readPreemptionArgs } from './preemption-args.ts';
import type { QueueKeeper } from './queue-keeper.ts';
import type { VoidedNominations } from './voided-nominations.ts';

export interface PreemptOptions {
  readonly snapshot: ClusterSnapshot;
  readonly decideOr: DecideOr;
  readonly rules: ProposalRules;
  readonly idleFor: IdleFor;
  readonly waitedFor: WaitedFor;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Inspects each reviewed proposal. */
  readonly reportLoops: (proposed: PreemptionArgs) => Steps<void>;
  readonly voided: Pick<VoidedNominations, 'note'>;
  /** Absent if queues do not restrict preemptions. */
  readonly keeper?: Pick<QueueKeeper, 'note'> | undefined;
}

/** Log lines per step; each is written at once. */
const LINES_PER_STEP = 50;

/** The verb `preempt`: takes `ExtenderPreemptionArgs`, answers with the remaining nodes and victims. */
export function preemptVerb(options: PreemptOptions): Verb {
  const { metrics, voided, keeper } = options;
  const nodes = metrics.counter(
    'plimsoll_extender_nodes_total',
    'Nodes that kube-scheduler proposed for a preemption, by verdict',
    ['verdict'],
  );
  for (const verdict of ['kept', 'changed', 'removed'] satisfies NodeVerdict['kind'][]) nodes.add({ verdict }, 0);
  return function* (asked) {
    const args = yield* readPreemptionArgs(asked.body);
    if (!args.ok) return unreadable(args);
    yield;
    const reviewed = yield* review(options, asked, args.value);
    yield;
    for (const [verdict, count] of countKinds(reviewed)) nodes.add({ verdict }, count);
    const left = reviewed.flatMap(victimsLeft);
    voided.note(args.value.pod, { isNodeLeft: left.length > 0, waits: new Map(reviewed.flatMap(waitOn)) });
    if (keeper !== undefined) yield* keeper.note(args.value.pod, left);
    return { ok: true, json: encodePreemptionResult(left, args.value) };
  };
}

function* review(options: PreemptOptions, asked: ExtenderRequest, args: PreemptionArgs): Steps<readonly NodeVerdict[]> {
  const { snapshot, rules, idleFor, waitedFor, clock, log, reportLoops, decideOr } = options;
  const proposal = { ...args, isOfUnknownSize: args.isPodCutShort, now: clock.now(), idleFor, waitedFor };
  const request = { ...asked, isUnreadPod: args.isPodCutShort };
  const outcome = yield* decideOr('preempt', request, reviewInSteps(snapshot, proposal, rules));
  if ('undecided' in outcome && outcome.undecided === 'Unsynced') return asProposed(args);
  const reviewed =
    'decided' in outcome ? outcome.decided : yield* reviewUndecided(options, proposal, outcome.undecided);
  yield* report(log, args, reviewed);
  yield* reportLoops(args);
  return reviewed;
}

/**
 * If nothing can be decided, protection alone decides, so that no load exposes a protected pod to preemption. Set-aside
 * room is respected too unless the view is stale: otherwise `filter` would keep the pod off the node after its victims
 * are gone.
 */
function* reviewUndecided(
  { snapshot, rules }: PreemptOptions,
  proposal: Proposal & IncomingPod,
  undecided: Undecided,
): Steps<readonly NodeVerdict[]> {
  const reviewed = yield* reviewByProtection(snapshot, proposal, rules);
  return undecided === 'Stale' ? reviewed : yield* leaveSetAside(snapshot, proposal, reviewed);
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
  return verdict.kind === 'removed' ? [] : [verdict.victims];
}

function waitOn(verdict: NodeVerdict): readonly (readonly [string, Instant])[] {
  const isWait = verdict.kind === 'changed' && verdict.waitsUntil !== undefined;
  return isWait ? [[verdict.victims.node, verdict.waitsUntil]] : [];
}

function* report(log: Log, { pod }: PreemptionArgs, reviewed: readonly NodeVerdict[]): Steps<void> {
  for (const [at, verdict] of reviewed.entries()) {
    if (at % LINES_PER_STEP === LINES_PER_STEP - 1) yield;
    if (verdict.kind === 'kept') continue;
    const node = verdict.kind === 'changed' ? verdict.victims.node : verdict.node;
    const { code, text } = verdict.because;
    log.info({ pod: `${pod.namespace}/${pod.name}`, node, verdict: verdict.kind, code, text }, 'Preemption reviewed');
  }
}
