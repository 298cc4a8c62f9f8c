import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Address } from '#test/cluster/support/control-plane/control-plane-flags.ts';
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from '#test/cluster/support/control-plane/control-plane.ts';
import { setUpNodeNetwork } from './node-network.ts';
import { SERVICE_PLACE } from '#test/cluster/node/node-place.ts';
import { relayHandedPort } from './relay.ts';
import { startNodeInGuest } from '#test/cluster/guest/node/start-guest-node.ts';
import { startNode } from './start-node.ts';

/** This machine, or a guest with a kernel as in production (guest/). */
export type NodeKind = 'native' | 'guest';

const START = { native: startNode, guest: startNodeInGuest } as const;

/**
 * Starts a control plane with a real node in the namespaces of this process, which must be new ones, and leads the port
 * that it was handed to the API server. The kubeconfig is for those outside.
 */
export async function startNodeCluster(
  options: Omit<ControlPlaneOptions, 'apiServer'>,
  kind: NodeKind = 'native',
): Promise<ControlPlane> {
  const handed = relayHandedPort(SERVICE_PLACE);
  // That none is handed over is reported where it is awaited.
  handed.catch(() => undefined);
  setUpNodeNetwork();
  const plane = await startControlPlane({ ...options, apiServer: SERVICE_PLACE });
  const node = await START[kind](options.folder, plane);
  const outside = { host: '127.0.0.1', port: await handed };
  return {
    ...plane,
    kubeconfig: kubeconfigFor(outside, plane.kubeconfig),
    components: new Map([...plane.components, ...node]),
  };
}

/** The kubeconfig with another address of the API server, in a file next to it. */
function kubeconfigFor({ host, port }: Address, file: string): string {
  const config = JSON.parse(readFileSync(file, 'utf8')) as { clusters: readonly { cluster: { server: string } }[] };
  for (const { cluster } of config.clusters) cluster.server = `https://${host}:${port}`;
  const copy = join(file, '..', 'outside.kubeconfig');
  writeFileSync(copy, JSON.stringify(config), { mode: 0o600 });
  return copy;
}
