/**
 * Runs in a guest: containerd and kubelet of the node that the guest is.
 *
 *   node guest-node-main.ts FOLDER IMAGE…   FOLDER has the credentials of the cluster (credentials.ts)
 *
 * Standard input has the orders, standard output the answers (guest-node-orders.ts).
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Component } from '#test/cluster/support/control-plane/component.ts';
import { credentialsIn } from '#test/cluster/support/control-plane/credentials.ts';
import { kubeletDropIns } from '#test/cluster/node/start/kubelet-configuration.ts';
import { startContainerd } from '#test/cluster/node/start/start-containerd.ts';
import { startKubelet } from '#test/cluster/node/start/start-kubelet.ts';
import type { Answer, Order } from './guest-node-orders.ts';
import { GUEST_PROGRAMS } from './guest-programs.ts';

const [folder = '', ...images] = process.argv.slice(2);

function say(answer: Answer): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

async function startNode(): Promise<Component> {
  const credentials = credentialsIn(folder);
  const { socket } = await startContainerd({ folder, programs: GUEST_PROGRAMS, images });
  console.error('containerd has the images');
  const plane = { credentials, kubeconfig: credentials.kubeconfig('admin') };
  return startKubelet({ folder, programs: GUEST_PROGRAMS, plane, containerdSocket: socket });
}

async function obey(kubelet: Component, order: Order): Promise<void> {
  if (order.stop !== undefined) {
    await kubelet.stop('SIGKILL');
    return;
  }
  const dropIns = kubeletDropIns(join(folder, 'kubelet'));
  for (const [name, text] of Object.entries(order.dropIns)) writeFileSync(join(dropIns, name), text);
  kubelet.start();
}

try {
  const kubelet = await startNode();
  say({ ready: true });
  for await (const line of createInterface({ input: process.stdin })) {
    const order = JSON.parse(line) as Order;
    await obey(kubelet, order);
    say({ done: order });
  }
} catch (error) {
  say({ failed: error instanceof Error ? error.message : String(error) });
}
