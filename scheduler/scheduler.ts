import { readFileSync } from 'node:fs';
import { healthApp } from '#shared/http/health-app.ts';
import type { HealthCheck } from '#shared/http/health.ts';
import { serve, type TlsOptions } from '#shared/http/serve.ts';
import { createClient } from '#shared/kube/client/client.ts';
import { connect } from '#shared/kube/client/connect.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import type { Surroundings } from '#shared/runtime/run-program.ts';
import type { Shutdown } from '#shared/runtime/shutdown.ts';
import { type ClusterView, createClusterView } from './cluster-view.ts';
import type { SchedulerConfiguration } from './configuration.ts';
import { extenderApp } from './extender/extender-app.ts';
import { preemptionRules } from './extender/preemption-rules.ts';

/** Where a started scheduler process listens. */
export interface Scheduler {
  readonly port: number;
  readonly healthPort: number;
}

/** Builds and starts the scheduler process; everything ends with the shutdown. Rejects with what to mend. */
export async function startScheduler(
  configuration: SchedulerConfiguration,
  surroundings: Surroundings,
): Promise<Scheduler> {
  const { clock, log, env, shutdown } = surroundings;
  const { host, port, healthHost, healthPort, bodyLimitBytes, drainSeconds } = configuration;
  const metrics = createMetrics('scheduler');
  const client = createClient(await connect(configuration.kubeconfig, env), {
    userAgent: 'plimsoll-scheduler',
    metrics,
  });
  shutdown.onRelease('connections to the API server', () => client.close());
  const view = createClusterView({ ...surroundings, client, metrics });
  const rules = preemptionRules(configuration.budgets, (name) => view.classes.get(name));
  const extender = await serve({
    handler: extenderApp({ ...view, rules, bodyLimitBytes, log, metrics }),
    host,
    port,
    ...tlsOf(configuration),
  });
  shutdown.onRelease('extender port', () => extender.close());
  const checks = [stoppingCheck(shutdown), viewCheck(view)];
  const health = await serve({
    handler: healthApp({ checks, metrics, configuration }, log),
    host: healthHost,
    port: healthPort,
  });
  shutdown.onRelease('health port', () => health.close());
  // Registered last and so released first: unready, but answering, until the Service has stopped sending.
  shutdown.onRelease('drain', () => {
    extender.stopKeepingAlive();
    return clock.sleep(drainSeconds * 1_000);
  });
  for (const reflector of view.reflectors) void reflector.run(shutdown.signal);
  return { port: extender.port, healthPort: health.port };
}

function tlsOf({ tls: { certFile, keyFile, clientCaFile } }: SchedulerConfiguration): { readonly tls?: TlsOptions } {
  if (certFile === undefined || keyFile === undefined) return {};
  const clientCaPem = clientCaFile === undefined ? undefined : readFileSync(clientCaFile, 'utf8');
  const own = { certPem: readFileSync(certFile, 'utf8'), keyPem: readFileSync(keyFile, 'utf8') };
  return { tls: { ...own, ...(clientCaPem !== undefined && { clientCaPem }) } };
}

function stoppingCheck({ signal }: Shutdown): HealthCheck {
  return { name: 'running', problem: () => (signal.aborted ? 'about to end' : undefined) };
}

function viewCheck({ missing }: ClusterView): HealthCheck {
  return {
    name: 'caches',
    problem: () => (missing().length === 0 ? undefined : `not yet read: ${missing().join(', ')}`),
  };
}
