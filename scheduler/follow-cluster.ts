import { PodAmounts } from '#shared/decide/queues/queue-charges.ts';
import { QueuedPods } from '#shared/decide/queues/queued-pods.ts';
import { Removals } from '#shared/domain/disruption/removals.ts';
import { RunningGangs } from '#shared/kube/annotations/running-gangs.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { SharedStreams } from '#shared/kube/reflector/shared-streams.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import type { ProcessContext } from '#shared/runtime/run-program.ts';
import { createClusterView } from './cluster-view.ts';
import { templateOf } from './compact-pod.ts';
import type { SchedulerConfiguration } from './configuration.ts';
import { OwnerDisruptions } from './disruptions/owner-disruptions.ts';
import { pruneRemovals } from './disruptions/record-disruptions.ts';
import { followEvictions, followPreemptedEvents, watchRemovals } from './disruptions/watch-removals.ts';
import { createNominations } from './extender/nominations.ts';
import { createQueueKeeper } from './extender/preemption-rules.ts';
import { MarkGuard } from './mark-guard.ts';
import { createPreemptionLoops } from './preemptions/preemption-loops.ts';
import { watchPreemptions } from './preemptions/watch-preemptions.ts';
import { followQueues } from './queues/stored-queue.ts';

export interface SchedulerContext extends ProcessContext {
  readonly client: KubeClient;
  readonly metrics: Metrics;
  /** Every part reads from these, so that the process lists and watches each kind once. */
  readonly streams: SharedStreams;
}

/** The one copy of the cluster that all parts of a process decide from, and what they remember about it. */
export type ClusterCopy = ReturnType<typeof followCluster>;

/** Nothing is read before `run`, and nothing at all if no part that is on needs it. */
export function followCluster(configuration: SchedulerConfiguration, context: SchedulerContext) {
  const { clock, streams } = context;
  const isOn = {
    extender: configuration.extender === 'On',
    record: configuration.disruptions.record === 'On',
    queues: configuration.queues.passes === 'On',
    rescheduling: configuration.rescheduling.passes === 'On',
  };
  const removals = new Removals();
  const removalWatch = isOn.record ? watchRemovals(removals, clock, () => !view.pods.isSynced()) : undefined;
  // Every replica follows the removals, so that the next leader knows them.
  if (isOn.record) {
    followPreemptedEvents(removals, context);
    followEvictions(removals, context);
  }
  const guard = new MarkGuard(configuration);
  const { isGuarded } = guard;
  const queued = isOn.queues ? new QueuedPods(clock, templateOf, isGuarded) : undefined;
  const neededIf = (isNeeded: boolean) => ({ ...context, streams: isNeeded ? streams : undefined });
  const queues = followQueues(neededIf(isOn.extender || isOn.queues), isOn.queues);
  const loops = createPreemptionLoops(configuration.preemptionLoops, clock);
  const nominations = createNominations(clock);
  const watch = watchPreemptions({ ...context, loops });
  const owners = new OwnerDisruptions(clock);
  const gangs = new RunningGangs();
  const view = createClusterView({
    ...neededIf(Object.values(isOn).includes(true)),
    observePod: (seen, snapshot) => {
      nominations.observe(seen, snapshot);
      watch(seen, snapshot);
      removalWatch?.observePod(seen, snapshot);
      owners.observePod(seen);
      gangs.observe(seen.pod);
      queued?.observe(seen, snapshot);
      keeper?.observePod(seen, snapshot);
    },
    observeGone: (uid, gone, snapshot) => {
      removalWatch?.observeGone(uid, gone, snapshot);
      owners.observeGone(gone);
      gangs.gone(uid);
      queued?.gone(uid);
      keeper?.observeGone(uid);
    },
    observeEvictions: removalWatch?.observeEvictions,
    observeLoops: ({ node, records }) => loops.adopt(node, records),
  });
  const keeper = isOn.extender
    ? createQueueKeeper({ ...context, ...view, queues, amounts: new PodAmounts(templateOf), isGuarded })
    : undefined;
  const run = (signal: AbortSignal): void => {
    void streams.run(signal, guard.follow(context, signal));
    if (isOn.record) void pruneRemovals({ ...context, removals }, signal);
  };
  const ownerDisruptedAt = (owner: string | undefined) => owners.at(owner);
  return { view, loops, nominations, removals, queued, queues, keeper, ownerDisruptedAt, gangs, run };
}
