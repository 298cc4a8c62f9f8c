import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Component } from '#test/cluster/support/control-plane/component.ts';
import { credentialsIn } from '#test/cluster/support/control-plane/credentials.ts';
import { kubeletDropIns } from '#test/cluster/node/start/kubelet-configuration.ts';
import { NODE_ADDRESS } from '#test/cluster/node/node-place.ts';
import { neededPrograms, packNodeImages } from '#test/cluster/node/start/start-node.ts';
import { textOf } from '#test/cluster/support/run/process-identity.ts';
import { findGuestTools, neededTools } from '#test/cluster/guest/image/find-guest-tools.ts';
import type { Answer, Order } from './guest-node-orders.ts';
import { inTime } from '#test/cluster/guest/run/in-time.ts';
import { LOAD_MODULES, nodeImage } from './node-image.ts';
import { inPayload, packPayload, quoted } from '#test/cluster/guest/image/pack-payload.ts';
import { runProgram } from '#test/cluster/support/run-program.ts';
import {
  type Guest,
  isLostToEmulation,
  type Machine,
  MAX_BOOTS,
  startQemu,
} from '#test/cluster/guest/run/start-qemu.ts';

const MAIN = new URL('./guest-node-main.ts', import.meta.url);
/** It takes one minute, on a busy machine several. */
const READY_WITHIN_MS = 420_000;
/** No other boot begins later, so that whoever waits learns why there is no node. */
const BOOTS_WITHIN_MS = 600_000;
const TOO_LATE = `was not ready after ${READY_WITHIN_MS} ms`;
const MEMORY_MIB = 4096;
const CPUS = 2;
const KUBELET_PORT = 10_250;
const NETWORK = '10.254.254.0/24';
const GATEWAY = '10.254.254.2';

/**
 * Boots a guest that is the node of the cluster whose credentials are in the run's folder, with the images of tests, and
 * waits until it takes pods. Must be called in a network namespace of its own with the addresses of a node
 * (node-network.ts): what comes to the node's address there is led to the guest. Its kubelet is stopped and started like
 * a program of this machine, and takes its drop-ins from the same folder. Rejects with what the guest said.
 */
export async function startNodeInGuest(folder: string): Promise<ReadonlyMap<string, Component>> {
  const tools = neededTools(findGuestTools());
  const programs = neededPrograms();
  const images = await packNodeImages(programs, folder);
  // Else the guest gets packets that seem to come from itself.
  const route = ['local', NODE_ADDRESS, 'dev', 'lo', 'table', 'local', 'src', '127.0.0.1'];
  runProgram('ip', ['route', 'replace', ...route]);
  mkdirSync(kubeletDropIns(join(folder, 'kubelet')), { recursive: true });
  const machine: Machine = {
    folder,
    memoryMiB: MEMORY_MIB,
    cpus: CPUS,
    image: nodeImage(tools, programs),
    payload: packPayload(folder, scriptOf(folder, images), [...credentialFiles(folder), ...images]),
    flags: ['-nic', `user,model=virtio-net-pci,net=${NETWORK},host=${GATEWAY},${forward(KUBELET_PORT)}`],
  };
  return new Map([['kubelet', await booted(() => startQemu(tools, machine), folder)]]);
}

async function booted(boot: () => Guest, folder: string): Promise<Component> {
  const lastBootMs = performance.now() + BOOTS_WITHIN_MS;
  for (let boots = 1; ; boots += 1) {
    const guest = boot();
    try {
      return await kubeletOf(guest, folder);
    } catch (error) {
      const isWorthAnother = guest.killed || isLostToEmulation(String(error));
      if (boots === MAX_BOOTS || !isWorthAnother || performance.now() > lastBootMs) throw error;
      process.stderr.write(`a guest is started again: ${String(error)}\n`);
    }
  }
}

/** What a node is given of its cluster; as administrator only the starter acts. */
function credentialFiles(folder: string): readonly string[] {
  const credentials = credentialsIn(folder);
  const { certFile, keyFile } = credentials.kubelet;
  return [credentials.caFile, certFile, keyFile, credentials.kubeconfig('kubelet'), credentials.kubeconfig('admin')];
}

function forward(port: number): string {
  return `hostfwd=tcp:${NODE_ADDRESS}:${port}-${NODE_ADDRESS}:${port}`;
}

/**
 * The run's folder is in the same place as outside, so that the same paths are right. The console tells how far it has
 * come.
 */
function scriptOf(folder: string, images: readonly string[]): string {
  return `set -x
mkdir -p /dev/pts /dev/shm ${quoted(dirname(folder))}
mount -t devpts devpts /dev/pts; mount -t tmpfs shm /dev/shm; mount -t tmpfs run /run; mount --make-rshared /
for each in $(cat /sys/fs/cgroup/cgroup.controllers); do echo +$each > /sys/fs/cgroup/cgroup.subtree_control; done
${LOAD_MODULES}
ip address add ${NODE_ADDRESS}/24 dev eth0; ip link set eth0 up; ip route add default via ${GATEWAY}
echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv4/conf/eth0/proxy_arp
mv ${quoted(`/payload${folder}`)} ${quoted(folder)}
exec node ${inPayload(MAIN)} ${[folder, ...images].map(quoted).join(' ')}
`;
}

/** Waits for the node, then stands for the kubelet in it. */
async function kubeletOf(guest: Guest, folder: string): Promise<Component> {
  const lastWords = (): string => textOf(join(folder, 'console.log')).split('\n').slice(-20).join('\n');
  const answers = createInterface({ input: guest.stdout })[Symbol.asyncIterator]();
  async function wait(isIt: (answer: Answer) => boolean): Promise<void> {
    for (;;) {
      const { done, value } = await answers.next();
      if (done === true) throw new Error(`the guest ${guest.killed ? TOO_LATE : 'ended'}:\n${lastWords()}`);
      const answer = JSON.parse(value) as Answer;
      if (answer.failed !== undefined) throw new Error(`in the guest: ${answer.failed}`);
      if (isIt(answer)) return;
    }
  }
  const tell = (order: Order): unknown => guest.stdin.write(`${JSON.stringify(order)}\n`);
  const isReady = wait(({ ready }) => ready === true);
  await inTime(guest, READY_WITHIN_MS, isReady);
  return {
    start: () => {
      const dropIns = kubeletDropIns(join(folder, 'kubelet'));
      const texts = readdirSync(dropIns).map((name) => [name, readFileSync(join(dropIns, name), 'utf8')] as const);
      tell({ start: 'kubelet', dropIns: Object.fromEntries(texts) });
    },
    stop: () => {
      tell({ stop: 'kubelet' });
      return wait(({ done }) => done?.stop !== undefined);
    },
    pid: () => guest.pid,
    hasEnded: () => guest.exitCode !== null || guest.signalCode !== null,
    lastWords,
  };
}
