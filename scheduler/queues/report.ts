import { claimedDaemonSet, type Owner, type Pod } from '#shared/domain/pod/pod.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import type { QueuedPods } from '#shared/decide/queues/queued-pods.ts';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { EventRecorder } from '#shared/kube/events/event-recorder.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import { inChunks } from '#shared/runtime/turns/turns.ts';
import { createChildQueues } from './child-queues.ts';
import { clearMarks } from './clear-marks.ts';
import { createSelectorKeeper } from './keep-selectors.ts';
import type { PodGroups } from './pod-groups.ts';
import { showOldestWaiting } from './queue-metrics.ts';
import type { Reclaim } from './reclaim.ts';
import { createStatusWriter, type StatusPorts } from './status-writer.ts';
import { createWaitConditions } from './wait-conditions.ts';
import { createWaitEvents } from './wait-events.ts';

interface ReportPorts extends StatusPorts {
  readonly term: Pick<LeaseTerm, 'isHeld' | 'formerUntil'>;
  readonly pods: QueuedPods;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly groups: Pick<PodGroups, 'read'>;
  readonly reclaim: Reclaim;
  readonly largestNode: () => QueueAmounts;
}

/** Returns a function to call once a second: it writes what users and the next leader see of a plan. */
export function createReport(ports: ReportPorts): (plan: QueuePlan, signal: AbortSignal) => Promise<void> {
  const { clock, events, groups, metrics, pods, reclaim, term } = ports;
  const whyNoRoom = (uid: string) => reclaim.whyWaiting(uid);
  const setOf = (uid: string) => daemonSetOf(pods.get(uid)?.unplaced);
  const keepSelectors = createSelectorKeeper(ports);
  const keepChildren = createChildQueues(ports);
  const writeStatus = createStatusWriter(ports);
  const tellWaiting = createWaitEvents(events, whyNoRoom, setOf, term.formerUntil);
  const writeConditions = createWaitConditions(ports, whyNoRoom);
  return async (plan, signal) => {
    showOldestWaiting(metrics, plan);
    await groups.read(signal);
    await keepSelectors(signal);
    await keepChildren(plan, signal);
    await writeStatus(plan, signal);
    await clearMarks(ports, signal);
    await inChunks(tellWaiting(plan, clock.now()), clock, signal);
    await writeConditions(plan, signal);
  };
}

function daemonSetOf(pod: Pod | undefined): Owner | undefined {
  return pod && claimedDaemonSet(pod);
}
