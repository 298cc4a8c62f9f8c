import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Server, serve } from '#shared/http/serve.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { createReflector, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { EVENTS, NODE_PRESSURES, type Resource } from '#shared/kube/resource.ts';
import type { SandboxPorts } from './start-sandbox.ts';

/** What the dashboard reads of the cluster. */
export interface LiveObjects {
  nodePressures(): Iterable<KubeObject>;
  events(): Iterable<KubeObject>;
  onChange(listener: () => void): () => void;
}

/** Makes the listener that shows these objects. */
export type MakeDashboard = (objects: LiveObjects) => (request: IncomingMessage, response: ServerResponse) => void;

const HOST = '127.0.0.1';
/** The sum of the letters of Plimsoll, so that the address is the same from start to start. */
const USUAL_PORT = 7470;
const DRAIN_MS = 200;

/** Serves the dashboard on the port asked for, or on the usual one, or on a free one if that is in use. */
export async function serveDashboard(
  make: MakeDashboard,
  client: KubeClient,
  port: number | undefined,
  { clock, log, shutdown }: SandboxPorts,
): Promise<Server> {
  const reflect = (resource: Resource): Reflector<KubeObject> =>
    createReflector({ client, clock, log, resource, slim: (raw) => raw, random: Math.random });
  const pressures = reflect(NODE_PRESSURES);
  const events = reflect(EVENTS);
  const handler = make({
    nodePressures: () => pressures.values(),
    events: () => events.values(),
    onChange(listener) {
      const stops = [pressures.onChange(listener), events.onChange(listener)];
      return () => stops.forEach((stop) => stop());
    },
  });
  const listen = (wanted: number): Promise<Server> => serve({ handler, host: HOST, port: wanted, drainMs: DRAIN_MS });
  const server = await (port === undefined ? listen(USUAL_PORT).catch(() => listen(0)) : listen(port));
  shutdown.onRelease('dashboard', () => server.close());
  const running = [pressures, events].map((reflector) => reflector.run(shutdown.signal));
  shutdown.onRelease('dashboard data', () => Promise.all(running).then(() => undefined));
  return server;
}
