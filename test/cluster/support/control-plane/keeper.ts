import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type NodeKind, startNodeCluster } from '#test/cluster/node/start/start-node-cluster.ts';
import { findBinaries } from './binaries.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { endRun, sweepDeadRuns } from '#test/cluster/support/run/end-run.ts';
import { makeRunFolder } from '#test/cluster/support/run/run-folder.ts';
import { unregister } from '#test/cluster/support/unregister.ts';

/*
 * A process of its own that holds a control plane. It lives as long as its standard input is open, so the control
 * plane ends with the process that asked for it, however that ends, SIGKILL included, and already while it starts. Should it
 * be killed itself, the process that asked for it, or else the next keeper, ends what it left.
 *
 *   in:  stop NAME | start NAME      one program of the control plane, or of the node
 *   out: one line of JSON per answer: {"ready": {...}}, {"missing": "..."}, {"failed": "..."}, {"done": "stop NAME"}
 */

const folder = makeRunFolder('cluster');
/** A cluster that was there before, and stays. */
const existing = process.env['PLIMSOLL_EXISTING_KUBECONFIG'];
const ending = new AbortController();

function say(answer: object): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

type Kept = Pick<ControlPlane, 'kubeconfig' | 'auditLog' | 'components'>;

async function obey(plane: Kept, line: string): Promise<void> {
  const [verb, name] = line.split(' ');
  const component = plane.components.get(name ?? '');
  if (verb === 'stop') await component?.stop('SIGKILL');
  if (verb === 'start') component?.start();
  say({ done: line });
}

/** Undefined when programs are missing, which is said. */
async function planeToKeep(): Promise<Kept | undefined> {
  if (existing !== undefined) return { kubeconfig: existing, auditLog: '', components: new Map() };
  const binaries = findBinaries(process.env);
  if (binaries.kind === 'missing') {
    say({ missing: binaries.because });
    return undefined;
  }
  const scheduler = process.env['PLIMSOLL_SCHEDULER_CONFIGURATION'];
  const flags = process.env['PLIMSOLL_API_SERVER_FLAGS'];
  const node = process.env['PLIMSOLL_NODE'];
  const options = {
    folder,
    paths: binaries.paths,
    ...(flags === undefined ? {} : { apiServerFlags: JSON.parse(flags) as readonly string[] }),
    ...(scheduler === undefined ? {} : { schedulerConfiguration: JSON.parse(scheduler) as object }),
  };
  return node === undefined ? startControlPlane(options) : startNodeCluster(options, node as NodeKind);
}

async function keep(): Promise<void> {
  const orders = createInterface({ input: process.stdin, signal: ending.signal });
  const isOver = once(orders, 'close').then(() => undefined);
  const plane = await Promise.race([planeToKeep(), isOver]);
  if (plane === undefined) return;
  say({ ready: { folder, kubeconfig: plane.kubeconfig, auditLog: plane.auditLog } });
  for await (const line of orders) await obey(plane, line);
}

// The process that asked may be gone before the answer; what was started must still be ended.
process.stdout.on('error', () => undefined);
// Ctrl-C reaches the whole group; the end of standard input is what counts.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => ending.abort());
try {
  await sweepDeadRuns();
  await keep();
} catch (error) {
  say({ failed: error instanceof Error ? error.message : String(error) });
} finally {
  // First, as pods may be refused from the moment on in which the webhook is gone.
  if (existing !== undefined) await unregister(existing).catch((error: unknown) => console.error(String(error)));
  await endRun(folder);
}
// A start that was given up may still be waiting for something.
process.exit();
