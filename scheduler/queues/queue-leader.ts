import { hostname } from 'node:os';
import { QUEUE_LEADER, REPORTING_CONTROLLERS } from '#shared/kube/api-names.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { createEventRecorder } from '#shared/kube/events/event-recorder.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import type { ControllerPart, TermWork } from '#shared/kube/lease/run-controller.ts';
import type { ClusterView } from '#scheduler/cluster-view.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import type { QueuedPods } from '#shared/decide/queues/queued-pods.ts';
import { reportRounds } from '#shared/runtime/fault-log.ts';
import type { HoldGangs } from './hold-gangs.ts';
import { followKubeScheduler } from './kube-scheduler-lease.ts';
import { letPodsIn, type Refusal, refusalOf } from './let-pods-in.ts';
import { type Asked, createPlanner, type FollowedQueues, isCurrent } from './planner.ts';
import { PodGroups } from './pod-groups.ts';
import { createQueueMetrics, type QueueMetrics } from './queue-metrics.ts';
import type { Reclaim, ReclaimPorts } from './reclaim.ts';
import { createReport } from './report.ts';
import { createRoomParts } from './room-parts.ts';
import type { StartGangs } from './start-gangs.ts';
import { evictedFor } from './stored-queue.ts';

export interface QueueLeaderOptions extends ClientContext {
  readonly ownerDisruptedAt: NonNullable<ReclaimPorts['ownerDisruptedAt']>;
  readonly pods: QueuedPods;
  readonly view: Pick<ClusterView, 'snapshot' | 'classes' | 'missing' | 'isStale'>;
  /** With their status. */
  readonly queues: FollowedQueues;
}

/** A pass follows each change, at most this often. */
const PASS_PERIOD_MS = 100;
const REPORT_PERIOD_MS = 1_000;
const RECLAIM_PERIOD_MS = 500;
const DEADLINE_MS = 60_000;

/** Lets waiting pods in on the replica that leads. The other replicas only follow the pods. */
export function queueLeader(options: QueueLeaderOptions): ControllerPart {
  const queueMetrics = createQueueMetrics(options.metrics);
  const begin = (term: LeaseTerm, signal: AbortSignal): TermWork =>
    leadOneTerm({ ...options, term, queueMetrics }, signal);
  return { name: 'queues', lease: QUEUE_LEADER, leader: queueMetrics.leader, begin };
}

interface LeadingQueues extends QueueLeaderOptions {
  readonly term: LeaseTerm;
  readonly queueMetrics: QueueMetrics;
}

function leadOneTerm(leading: LeadingQueues, signal: AbortSignal): TermWork {
  const queues = listenedUntil(leading.queues, signal);
  const passes = createPasses(leading, queues, signal);
  const follow = (until: AbortSignal): Promise<void> => followKubeScheduler(leading, passes.onTakeover, until);
  const rounds = (pass: string) => ({
    deadlineMs: DEADLINE_MS,
    ...reportRounds(leading.log, 'Queue pass failed', pass),
  });
  return {
    sources: [{ synced: queues.synced }, { run: follow }],
    passes: [
      { ...rounds('letIn'), task: passes.letIn, periodMs: PASS_PERIOD_MS },
      { ...rounds('report'), task: passes.report, periodMs: REPORT_PERIOD_MS },
      { ...rounds('reclaim'), task: passes.reclaim, periodMs: RECLAIM_PERIOD_MS },
    ],
    end: passes.settled,
  };
}

/** The same queues, whose callbacks stop at the end of the term. */
function listenedUntil({ values, synced, isSynced, onChange }: FollowedQueues, ended: AbortSignal): FollowedQueues {
  const listen: FollowedQueues['onChange'] = (listener) => {
    const stop = onChange(listener);
    ended.addEventListener('abort', stop, { once: true });
    return stop;
  };
  return { values, synced, isSynced, onChange: listen };
}

/** The leader's loops. The first decides and lets pods in; the others use its last decision. */
function createPasses(leading: LeadingQueues, queues: FollowedQueues, signal: AbortSignal) {
  const { client, clock, log, pods, term, queueMetrics: metrics, view } = leading;
  const events = createEventRecorder({ ...leading, component: REPORTING_CONTROLLERS.scheduler, instance: hostname() });
  const classOf = (name: string) => view.classes.get(name);
  const letInPorts = { client, clock, log, pods, metrics, term, classOf, refused: new Map<string, Refusal>() };
  const planner = createPlanner({ ...leading, queues, metrics });
  const evictedBefore = (queue: string) => evictedFor(queues.values(), queue);
  const { settings: declared, largestNode } = planner;
  const { starts, holds, reclaim, ...room } = createRoomParts(
    { ...leading, evictedBefore, events, metrics, declared, letInPorts, snapshot: view.snapshot },
    signal,
  );
  const groups = new PodGroups({ client, clock });
  const parts = { events, metrics, groups, reclaim, largestNode };
  const report = createReport({ ...leading, ...parts, queues: () => queues.values() });
  const asked = whysOf(letInPorts, { starts, holds, groups, reclaim });
  let last: QueuePlan | undefined;
  return {
    letIn: async (passing: AbortSignal): Promise<void> => {
      const plan = await planner.plan(asked, [starts, groups], passing);
      if (plan === undefined) return;
      last = plan;
      pods.settleClaims(plan.claims);
      await starts.round(plan, passing);
      await letPodsIn(plan, letInPorts, passing);
    },
    report: async (passing: AbortSignal): Promise<void> => {
      if (last !== undefined) await report(last, passing);
    },
    reclaim: async (passing: AbortSignal): Promise<void> => {
      if (last !== undefined && isCurrent(view)) await room.round(last, passing);
    },
    onTakeover: room.onTakeover,
    settled: room.settled,
  };
}

interface AskedParts {
  readonly starts: Pick<StartGangs, 'whyNotNow'>;
  readonly holds: Pick<HoldGangs, 'isHalf'>;
  readonly groups: Pick<PodGroups, 'minOf'>;
  readonly reclaim: Pick<Reclaim, 'isMakingRoomFor'>;
}

function whysOf(letInPorts: Parameters<typeof refusalOf>[1], { starts, holds, groups, reclaim }: AskedParts): Asked {
  return {
    whyRefused: (uid) => refusalOf(uid, letInPorts),
    whyGangWaits: (gang) => starts.whyNotNow(gang),
    isHalf: (gang) => holds.isHalf(gang),
    minOfGroup: groups.minOf,
    isRoomMade: (uid) => reclaim.isMakingRoomFor(uid),
  };
}
