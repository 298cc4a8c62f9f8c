import { hostname } from 'node:os';
import { serve, type Server } from '#shared/http/serve.ts';
import { followTlsFiles, readTlsFiles } from '#shared/http/tls-files.ts';
import { REPORTING_CONTROLLERS } from '#shared/kube/api-names.ts';
import { createEventRecorder } from '#shared/kube/events/event-recorder.ts';
import type { SchedulerConfiguration } from '#scheduler/configuration.ts';
import type { ClusterCopy, SchedulerContext } from '#scheduler/follow-cluster.ts';
import { extenderListener } from './extender-listener.ts';
import { extenderVerbs } from './extender-verbs.ts';
import { clearVoidedNominations, createVoidedNominations } from './nominations.ts';
import { preemptionRules } from './preemption-rules.ts';

/** Opens the port for kube-scheduler. Requests are answered without a decision until the copy is filled. */
export async function openExtender(
  configuration: SchedulerConfiguration,
  context: SchedulerContext,
  copy: ClusterCopy,
): Promise<Server> {
  const { shutdown } = context;
  const { host, port } = configuration;
  const tls = readTlsFiles(configuration.tls);
  const handler = extenderListener({
    ...configuration,
    ...context,
    verbs: verbsOf(configuration, context, copy),
  });
  const server = await serve({ handler, host, port, ...(tls !== undefined && { tls }) });
  shutdown.onRelease('extender port', () => server.close());
  if (tls !== undefined)
    void followTlsFiles({ ...context, server, files: configuration.tls, first: tls }, shutdown.signal);
  return server;
}

function verbsOf(configuration: SchedulerConfiguration, context: SchedulerContext, copy: ClusterCopy) {
  const { view, loops, nominations, keeper, ownerDisruptedAt, gangs } = copy;
  const isOn = configuration.extender === 'On';
  const rules = preemptionRules(configuration, { ...view, loops, ownerDisruptedAt, queues: keeper, gangs });
  const events = createEventRecorder({ ...context, component: REPORTING_CONTROLLERS.scheduler, instance: hostname() });
  const voided = createVoidedNominations({ ...context, snapshot: view.snapshot });
  if (isOn) void clearVoidedNominations(voided, context, context.shutdown.signal);
  // `Off` decides nothing, even if another part reads the pods.
  const missing = isOn ? view.missing : () => ['extender'];
  return extenderVerbs({ ...context, ...view, missing, ...nominations, rules, loops, events, voided, keeper });
}
