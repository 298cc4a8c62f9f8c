import { hostname } from 'node:os';
import { cachesCheck, openHealthPort } from '#shared/http/health.ts';
import { serve, type Server } from '#shared/http/serve.ts';
import { followTlsFiles, readTlsFiles } from '#shared/http/tls-files.ts';
import { connect, createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { followServerVersion } from '#shared/kube/client/server-version.ts';
import { REPORTING_CONTROLLERS } from '#shared/kube/api-names.ts';
import { createEventRecorder } from '#shared/kube/events/event-recorder.ts';
import { createMetrics, type Metrics } from '#shared/runtime/metrics.ts';
import type { ProcessContext } from '#shared/runtime/run-program.ts';
import { Removals } from '#shared/domain/disruption/removals.ts';
import { createClusterView } from './cluster-view.ts';
import { templateOf } from './compact-pod.ts';
import type { SchedulerConfiguration } from './configuration.ts';
import type { DashboardPortOptions } from './dashboard-port.ts';
import { OwnerDisruptions } from './disruptions/owner-disruptions.ts';
import { recordDisruptions } from './disruptions/record-disruptions.ts';
import { followEvictions, followPreemptedEvents, watchRemovals } from './disruptions/watch-removals.ts';
import { extenderListener } from './extender/extender-listener.ts';
import { extenderVerbs } from './extender/extender-verbs.ts';
import { createNominations, clearVoidedNominations, createVoidedNominations } from './extender/nominations.ts';
import { preemptionRules, createQueueKeeper } from './extender/preemption-rules.ts';
import { MarkGuard } from './mark-guard.ts';
import { runNodeController } from './nodes/node-controller.ts';
import { createPreemptionLoops } from './preemptions/preemption-loops.ts';
import { recordLoops } from './preemptions/record-loops.ts';
import { runRescheduler } from './rescheduling/run-rescheduler.ts';
import { watchPreemptions } from './preemptions/watch-preemptions.ts';
import { runQueueLeader } from './queues/queue-leader.ts';
import { followQueues } from './queues/stored-queue.ts';
import { PodAmounts } from '#shared/decide/queues/queue-charges.ts';
import { QueuedPods } from '#shared/decide/queues/queued-pods.ts';

/** Where a running scheduler process listens. */
export interface Scheduler {
  readonly port: number;
  readonly healthPort: number;
  /** Absent without a dashboard. */
  readonly dashboardPort?: number;
}

/**
 * Builds and starts the scheduler process. Everything ends with the shutdown. Rejects with an error that says what to
 * fix.
 */
export async function startScheduler(
  configuration: SchedulerConfiguration,
  context: ProcessContext,
): Promise<Scheduler> {
  const { clock, env, log, shutdown } = context;
  const metrics = createMetrics('scheduler');
  const client = createClient(await connect(configuration.kubeconfig, env), {
    userAgent: 'plimsoll-scheduler',
    metrics,
    log,
  });
  shutdown.onRelease('connections to the API server', () => client.close());
  await followServerVersion({ clock, log, client }, shutdown.signal);
  const parts = { ...context, client, metrics };
  const opened = await openExtender(configuration, parts);
  const checks = configuration.extender === 'On' ? [cachesCheck(opened.view.missing)] : [];
  const health = await openHealthPort({ ...parts, checks, configuration, server: opened.extender });
  runOnView(configuration, parts, opened);
  const controlling = runNodeController({ ...parts, configuration: configuration.nodes }, shutdown.signal);
  shutdown.onRelease('lease of the node controller', () => controlling);
  const dashboard = await openDashboard({ ...parts, configuration: configuration.dashboard });
  return { port: opened.extender.port, healthPort: health.port, ...(dashboard && { dashboardPort: dashboard.port }) };
}

/** Reads the cluster for the parts that decide from a copy of it, and starts each enabled part. */
function runOnView(configuration: SchedulerConfiguration, parts: SchedulerParts, opened: Opened): void {
  const { view, loops, removals, voided, queued, queues, ownerDisruptedAt, guard } = opened;
  const { signal } = parts.shutdown;
  const holdLease = (of: string, leading: Promise<void>): void =>
    parts.shutdown.onRelease(`lease of ${of}`, () => leading);
  const isOn = {
    extender: configuration.extender === 'On',
    record: configuration.disruptions.record === 'On',
    rescheduling: configuration.rescheduling.passes === 'On',
    queues: queued !== undefined,
  };
  const readers = Object.values(isOn).includes(true) ? view.reflectors : [];
  void guard.follow(parts, signal).then(() => readers.forEach((reflector) => void reflector.run(signal)));
  if (isOn.extender || isOn.queues) void queues.run(signal);
  if (isOn.record) {
    void followPreemptedEvents(removals, parts).run(signal);
    for (const evictions of followEvictions(removals, parts)) void evictions.run(signal);
    const record = { ...parts, removals, ...view, configuration: configuration.disruptions };
    holdLease('the record of disruptions', recordDisruptions(record, signal));
  }
  if (queued !== undefined) {
    const { queueLease: lease, reclaim, reclaimBy, queueReplacements: replacements } = configuration;
    const { reclaimOveruse: overuse } = configuration;
    holdLease(
      'the queues',
      runQueueLeader(
        { ...parts, pods: queued, view, queues, lease, reclaim, reclaimBy, replacements, overuse, ownerDisruptedAt },
        signal,
      ),
    );
  }
  if (isOn.extender) {
    const record = { ...parts, loops, recorded: view.recordedLoops, configuration: configuration.preemptionLoops };
    holdLease('the loops of preemptions', recordLoops(record, signal));
    void clearVoidedNominations(voided, parts, signal);
  }
  if (isOn.rescheduling)
    holdLease('the rescheduler', runRescheduler({ ...parts, view, configuration: configuration.rescheduling }, signal));
}

type Opened = Awaited<ReturnType<typeof openExtender>>;

interface SchedulerParts extends ProcessContext {
  readonly client: KubeClient;
  readonly metrics: Metrics;
}

/** Loaded only if it is served: its code takes several MiB. */
async function openDashboard(options: DashboardPortOptions): Promise<Server | undefined> {
  if (options.configuration.port === undefined) return undefined;
  const { openDashboardPort } = await import('./dashboard-port.ts');
  return openDashboardPort(options, options.configuration.port);
}

/** Opens the port for kube-scheduler. Requests are answered without a decision until the view is filled. */
async function openExtender(configuration: SchedulerConfiguration, parts: SchedulerParts) {
  const { clock, shutdown } = parts;
  const { host, port } = configuration;
  const removals = new Removals();
  const removalWatch =
    configuration.disruptions.record === 'On' ? watchRemovals(removals, clock, () => !view.pods.isSynced()) : undefined;
  const guard = new MarkGuard(configuration);
  const { isGuarded } = guard;
  const queued = configuration.queues === 'On' ? new QueuedPods(clock, templateOf, isGuarded) : undefined;
  const queues = followQueues(parts, queued !== undefined);
  const loops = createPreemptionLoops(configuration.preemptionLoops, clock);
  const nominations = createNominations(clock);
  const watch = watchPreemptions({ ...parts, loops });
  const owners = new OwnerDisruptions(clock);
  const view = createClusterView({
    ...parts,
    observePod: (seen, snapshot) => {
      nominations.observe(seen, snapshot);
      watch(seen, snapshot);
      removalWatch?.observePod(seen, snapshot);
      owners.observePod(seen);
      queued?.observe(seen, snapshot);
      keeper?.observePod(seen, snapshot);
    },
    observeGone: (uid, gone, snapshot) => {
      removalWatch?.observeGone(uid, gone, snapshot);
      owners.observeGone(gone);
      queued?.gone(uid);
      keeper?.observeGone(uid);
    },
    observeEvictions: removalWatch?.observeEvictions,
    observeLoops: ({ node, records }) => loops.adopt(node, records),
  });
  const isOn = configuration.extender === 'On';
  const keeper = isOn
    ? createQueueKeeper({ ...parts, ...view, queues, amounts: new PodAmounts(templateOf), isGuarded })
    : undefined;
  const ownerDisruptedAt = (owner: string | undefined) => owners.at(owner);
  const rules = preemptionRules(configuration, { ...view, loops, ownerDisruptedAt, queues: keeper });
  const events = createEventRecorder({ ...parts, component: REPORTING_CONTROLLERS.scheduler, instance: hostname() });
  const voided = createVoidedNominations({ ...parts, snapshot: view.snapshot });
  // `Off` decides nothing, even if another part reads the pods.
  const missing = isOn ? view.missing : () => ['extender'];
  const verbs = extenderVerbs({ ...parts, ...view, missing, ...nominations, rules, loops, events, voided, keeper });
  const tls = readTlsFiles(configuration.tls);
  const handler = extenderListener({ ...configuration, ...parts, verbs });
  const extender = await serve({ handler, host, port, ...(tls !== undefined && { tls }) });
  shutdown.onRelease('extender port', () => extender.close());
  if (tls !== undefined) {
    const follower = { ...parts, server: extender, files: configuration.tls, first: tls };
    void followTlsFiles(follower, shutdown.signal);
  }
  return { extender, view, loops, voided, removals, queued, queues, ownerDisruptedAt, guard };
}
