import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Server, serve } from '#shared/http/serve.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { SandboxPorts } from './start-sandbox.ts';

/** A dashboard: the listener that serves it, and what keeps it current until the signal aborts. */
export interface Dashboard {
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Makes a dashboard that reads the cluster through a client. */
export type MakeDashboard = (client: KubeClient) => Dashboard;

const HOST = '127.0.0.1';
/** The sum of the letters of Plimsoll, so that the address is the same from start to start. */
const USUAL_PORT = 7470;
const DRAIN_MS = 200;

/** Serves the dashboard on the requested port, or on the usual one, or on a free one if that is in use. */
export async function serveDashboard(
  make: MakeDashboard,
  client: KubeClient,
  port: number | undefined,
  { shutdown }: Pick<SandboxPorts, 'shutdown'>,
): Promise<Server> {
  const { handler, run } = make(client);
  const listen = (wanted: number): Promise<Server> => serve({ handler, host: HOST, port: wanted, drainMs: DRAIN_MS });
  const server = await (port === undefined ? listen(USUAL_PORT).catch(() => listen(0)) : listen(port));
  shutdown.onRelease('dashboard', () => server.close());
  const running = run(shutdown.signal);
  shutdown.onRelease('dashboard data', () => running);
  return server;
}
