import type { Because } from '#shared/domain/base/because.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { Proposal } from '#shared/domain/preemption/proposal/proposal.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';
import { type EventRecorder, podReference } from '#shared/kube/events/event-recorder.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import type { PreemptionLoops } from './preemption-loops.ts';

export interface ReportOptions {
  readonly loops: Pick<PreemptionLoops, 'mode' | 'isAny' | 'between'>;
  readonly snapshot: Pick<ClusterSnapshot, 'placedPods'>;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly log: Pick<Log, 'warn'>;
  readonly metrics: Metrics;
}

/** Events per proposal; more would tell the reader nothing new. */
const MAX_REPORTED = 10;

interface FoundLoop {
  readonly victim: Pod;
  readonly because: Because;
}

/**
 * Reports each loop that a proposed preemption would continue: an Event on the pending pod that names both owners, a
 * log line, and a count. Only the replica that receives the request does so.
 */
export function reportLoops(options: ReportOptions): (proposed: Pick<Proposal, 'pod' | 'proposal'>) => Steps<void> {
  const { loops, events, log, metrics } = options;
  const counter = metrics.counter(
    'plimsoll_extender_preemption_loops_total',
    'Pairs of owners in proposed preemptions that would continue a loop, by mode',
    ['mode'],
  );
  counter.add({ mode: loops.mode }, 0);
  return function* (proposed) {
    if (!loops.isAny()) return;
    for (const { victim, because } of yield* loopsIn(proposed, options)) {
      counter.add({ mode: loops.mode });
      log.warn({ ...because.facts, code: because.code, mode: loops.mode }, 'Loop of preemptions');
      events.record(eventOf(proposed.pod, { victim, because }, loops.mode));
    }
  };
}

/** One for each owner of victims, whatever the node; of very many, only some. */
function* loopsIn(
  { pod, proposal }: Pick<Proposal, 'pod' | 'proposal'>,
  options: ReportOptions,
): Steps<readonly FoundLoop[]> {
  const found = new Map<string, FoundLoop>();
  for (const { uids } of proposal) {
    for (const uid of uids) {
      const victim = options.snapshot.placedPods.get(uid)?.pod;
      const because = victim && options.loops.between(victim, pod);
      if (victim !== undefined && because !== undefined) found.set(because.text, { victim, because });
    }
    if (found.size >= MAX_REPORTED) break;
    yield;
  }
  return [...found.values()].slice(0, MAX_REPORTED);
}

function eventOf(preemptor: Pod, { victim, because }: FoundLoop, mode: PreemptionLoops['mode']) {
  return {
    regarding: podReference(preemptor),
    related: podReference(victim),
    type: 'Warning',
    reason: EVENT_REASONS.preemptionLoop,
    note: mode === 'DryRun' ? `${because.text} (dry run)` : because.text,
    action: 'Preempting',
  } as const;
}
