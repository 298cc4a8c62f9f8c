/**
 * What the scheduler process needs on a large cluster: 5,000 nodes with 30 pods each, read from an API server in another
 * process over HTTP without TLS, with the V8 flags of deploy/components/scheduler-second and
 * its compiled code, as in the image. JSON on stdout: seconds until
 * it is ready, resident memory then and at most, and how long its event loop was blocked at most. BENCH_NODES.
 */
import { waitUntil } from '#test/cluster/support/wait-until.ts';
import { openLargeCluster } from './support/large-cluster.ts';
import { startSchedulerProcess, untilReady } from './support/scheduler-process.ts';

const NODES = Number(process.env['BENCH_NODES'] ?? 5_000);
/** At each signal, prints to standard error how long the event loop was blocked since the previous one. */
const MONITOR = `
import { monitorEventLoopDelay } from 'node:perf_hooks';
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
process.on('SIGUSR2', () => {
  console.error('blocked ' + delay.max / 1e6 + ' ' + delay.percentile(99.9) / 1e6 + ';');
  delay.reset();
});`;

const { server, url, pods } = await openLargeCluster({ nodes: NODES });
const monitor = `--import=data:text/javascript,${encodeURIComponent(MONITOR)}`;
const scheduler = await startSchedulerProcess(url, [], [monitor]);
const { child, startedAt, said, memoryMib } = scheduler;
child.kill('SIGUSR2');
await untilReady(scheduler);
const figures = {
  nodes: NODES,
  pods,
  readySeconds: Math.round((performance.now() - startedAt) / 10) / 100,
  rssMib: memoryMib('VmRSS'),
  highestMib: memoryMib('VmHWM'),
};
child.kill('SIGUSR2');
await waitUntil(() => Promise.resolve(said().split('blocked ').length > 2), {
  what: 'the delay of its event loop',
  components: [],
});
const [, longest, p999] = /blocked (\S+) (\S+);\s*$/.exec(said()) ?? [];
scheduler.stop();
server.closeAllConnections();
server.close();
const blocked = { longestBlockMs: Math.round(Number(longest)), p999BlockMs: Math.round(Number(p999)) };
console.log(JSON.stringify({ bench: 'extender-memory', ...figures, ...blocked }, undefined, 2));
