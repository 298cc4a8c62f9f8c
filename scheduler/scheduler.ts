import { CONTROLLER } from '#shared/kube/api-names.ts';
import { cachesCheck, openHealthPort } from '#shared/http/health.ts';
import type { Server } from '#shared/http/serve.ts';
import { connect, createClient } from '#shared/kube/client/client.ts';
import { followServerVersion } from '#shared/kube/client/server-version.ts';
import { SharedStreams } from '#shared/kube/reflector/shared-streams.ts';
import { type ControllerPart, runController } from '#shared/kube/lease/run-controller.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import type { ProcessContext } from '#shared/runtime/run-program.ts';
import type { SchedulerConfiguration } from './configuration.ts';
import type { DashboardPortOptions } from './dashboard-port.ts';
import { disruptionRecorder } from './disruptions/record-disruptions.ts';
import { openExtender } from './extender/open-extender.ts';
import { type ClusterCopy, followCluster, type SchedulerContext } from './follow-cluster.ts';
import { nodeController } from './nodes/node-controller.ts';
import { loopRecorder } from './preemptions/record-loops.ts';
import { queueLeader } from './queues/queue-leader.ts';
import { rescheduler } from './rescheduling/run-rescheduler.ts';

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
  const parts = { ...context, client, metrics, streams: new SharedStreams() };
  const copy = followCluster(configuration, parts);
  const controllers = controllerParts(configuration, parts, copy);
  const extender = await openExtender(configuration, parts, copy);
  const checks = configuration.extender === 'On' ? [cachesCheck(copy.view.missing)] : [];
  const health = await openHealthPort({ ...parts, checks, configuration, server: extender });
  const dashboard = await openDashboard({ ...parts, configuration: configuration.dashboard });
  // Whatever reads has been created.
  copy.run(shutdown.signal);
  leadParts(configuration, parts, controllers);
  return { port: extender.port, healthPort: health.port, ...(dashboard && { dashboardPort: dashboard.port }) };
}

/** A process with one part uses the Lease of that part: so do its rights, and every earlier version. */
export function leaseName(
  { leaderElection }: Pick<SchedulerConfiguration, 'leaderElection'>,
  parts: readonly Pick<ControllerPart, 'lease'>[],
): string {
  const own = parts.length === 1 ? parts[0]?.lease : undefined;
  return leaderElection.name ?? own ?? CONTROLLER;
}

/** Runs the parts that are on, on the replica that leads, under one Lease. */
function leadParts(
  configuration: SchedulerConfiguration,
  context: SchedulerContext,
  parts: readonly ControllerPart[],
): void {
  const { shutdown } = context;
  const { namespace } = configuration.leaderElection;
  const lease = { namespace, name: leaseName(configuration, parts) };
  const leading = runController({ ...context, lease, parts }, shutdown.signal);
  shutdown.onRelease('leadership', () => leading);
}

function controllerParts(
  { nodes, disruptions, preemptionLoops, rescheduling, ...process }: SchedulerConfiguration,
  context: SchedulerContext,
  { view, loops, removals, queued, queues: stored, ownerDisruptedAt, gangs }: ClusterCopy,
): readonly ControllerPart[] {
  const { namespace: positionNamespace } = process.leaderElection;
  return [
    nodes.passes === 'On' ? nodeController({ ...context, configuration: nodes }) : [],
    disruptions.record === 'On' ? disruptionRecorder({ ...context, ...view, positionNamespace, removals }) : [],
    queued ? queueLeader({ ...context, view, pods: queued, queues: stored, ownerDisruptedAt }) : [],
    process.extender === 'On' && preemptionLoops.mode !== 'Off'
      ? loopRecorder({ ...context, loops, recorded: view.recordedLoops })
      : [],
    rescheduling.passes === 'On' ? rescheduler({ ...context, view, gangs }) : [],
  ].flat();
}

/** Loaded only if it is served: its code takes several MiB. */
async function openDashboard(options: DashboardPortOptions): Promise<Server | undefined> {
  if (options.configuration.port === undefined) return undefined;
  const { openDashboardPort } = await import('./dashboard-port.ts');
  return openDashboardPort(options, options.configuration.port);
}
