/**
 * What the controller needs with all of its parts, on the replica that leads: nodes with 30 pods each, of which a tenth
 * reports each second, 100 queues, 2,000 Events, 5,000 records. The API server is in another process, over HTTP without
 * TLS; flags and compiled code are those of the image. JSON on stdout: resident memory at the end and at most, its own
 * part of it, and the lists and watches of the start. BENCH_NODES, BENCH_SECONDS, BENCH_EXTENDER=On.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pressureOf, rawEvent, rawQueue, rawQuota, rawRecord } from './support/cluster-objects.ts';
import { openLargeCluster } from './support/large-cluster.ts';
import { startSchedulerProcess, untilReady } from './support/scheduler-process.ts';

const NODES = Number(process.env['BENCH_NODES'] ?? 500);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 30);
const EXTENDER = process.env['BENCH_EXTENDER'] ?? 'Off';
const NONE = [0, () => ({})] as const;
const PARTS = [
  `--extender=${EXTENDER}`,
  '--nodes-passes=On',
  '--disruptions-record=On',
  '--queues-passes=On',
  '--rescheduling-passes=On',
  '--dashboard-host=127.0.0.1',
  '--dashboard-port=0',
];

const cluster = await openLargeCluster({
  nodes: NODES,
  lists: {
    nodepressures: [NODES, pressureOf],
    events: [2_000, rawEvent],
    disruptions: [5_000, rawRecord],
    queues: [100, rawQueue],
    priorityquotas: [20, rawQuota],
    resourcequotas: NONE,
    daemonsets: NONE,
    nodepressurepolicies: NONE,
    prioritypolicies: NONE,
    disruptionlimits: NONE,
    disruptionpolicies: NONE,
    disruptionaccounts: NONE,
    reschedulingpolicies: NONE,
  },
});
const controller = await startSchedulerProcess(cluster.url, PARTS);
await untilReady(controller);
const { child, startedAt, memoryMib, portOf } = controller;
const readySeconds = Math.round((performance.now() - startedAt) / 10) / 100;
for (let round = 0; round < SECONDS; round += 1) {
  for (let index = round % 10; index < NODES; index += 10) cluster.modify('nodepressures', pressureOf(index));
  await sleep(1_000);
}
const metrics = await (await fetch(`http://127.0.0.1:${portOf('healthPort')}/metrics`)).text();
const sum = (name: string): number =>
  Array.from(metrics.matchAll(new RegExp(`^${name}\\{.*\\} (\\d+)$`, 'gm')), ([, value]) => Number(value)).reduce(
    (total, each) => total + each,
    0,
  );
const rollup = readFileSync(`/proc/${child.pid ?? 0}/smaps_rollup`, 'utf8');
const privateKib = Array.from(rollup.matchAll(/^Private_\w+:\s+(\d+) kB$/gm), ([, kib]) => Number(kib)).reduce(
  (total, each) => total + each,
  0,
);
const figures = {
  nodes: NODES,
  pods: cluster.pods,
  extender: EXTENDER,
  isLeading: /^plimsoll_queue_leader\S* 1$/m.test(metrics),
  readySeconds,
  lists: sum('plimsoll_reflector_lists_total'),
  watches: sum('plimsoll_reflector_watches_total'),
  rssMib: memoryMib('VmRSS'),
  privateMib: Math.round(privateKib / 102.4) / 10,
  highestMib: memoryMib('VmHWM'),
};
controller.stop();
cluster.server.closeAllConnections();
cluster.server.close();
console.log(JSON.stringify({ bench: 'controller-memory', ...figures }, undefined, 2));
