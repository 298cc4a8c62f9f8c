import { createAdmit } from '#dashboard/access/admit.ts';
import { dashboardApp } from '#dashboard/app.ts';
import { createLiveObjects } from '#dashboard/live-objects.ts';
import { serve, type Server } from '#shared/http/serve.ts';
import { followTlsFiles, readTlsFiles } from '#shared/http/tls-files.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import type { ProcessContext } from '#shared/runtime/run-program.ts';
import type { SchedulerConfiguration } from './configuration.ts';

export interface DashboardPortOptions extends ProcessContext {
  readonly client: KubeClient;
  readonly metrics: Metrics;
  readonly configuration: SchedulerConfiguration['dashboard'];
}

const DRAIN_MS = 500;
/** Enough for every open page, and few enough to bound memory. */
const MAX_CONNECTIONS = 256;
/** Shorter than usual, so that connections without a request make room for others. */
const KEEP_ALIVE_MS = 5_000;

/** Serves the dashboard on a port of its own until the shutdown. */
export async function openDashboardPort(options: DashboardPortOptions, port: number): Promise<Server> {
  const { client, clock, log, shutdown, configuration } = options;
  const { host, clusterName } = configuration;
  const files = { ...configuration.tls, clientCaFile: configuration.tls.frontProxyCaFile };
  const tls = readTlsFiles(files);
  const objects = createLiveObjects(options);
  const admit = createAdmit({ client, clock, log, trustsProxy: files.clientCaFile !== undefined });
  const handler = dashboardApp({ sources: objects.sources, admit, clock, log, signal: shutdown.signal, clusterName });
  const limits = { drainMs: DRAIN_MS, maxConnections: MAX_CONNECTIONS, keepAliveMs: KEEP_ALIVE_MS };
  const server = await serve({ handler, host, port, ...limits, ...(tls !== undefined && { tls }) });
  shutdown.onRelease('dashboard', () => server.close());
  if (tls !== undefined) void followTlsFiles({ server, files, first: tls, clock, log }, shutdown.signal);
  void objects.run(shutdown.signal);
  return server;
}
