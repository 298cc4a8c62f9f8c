import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ComponentName } from './binaries.ts';
import { handPortTo } from '#test/cluster/node/start/relay.ts';
import type { NodeKind } from '#test/cluster/node/start/start-node-cluster.ts';
import { sweepDeadRuns } from '#test/cluster/support/run/end-run.ts';

/** A running control plane, of this run's own unless it was there already. */
export interface Cluster {
  /** Its files; what else is registered there (leftovers.ts) ends with it. */
  readonly folder: string;
  readonly kubeconfig: string;
  readonly auditLog: string;
  start(name: ProgramName): Promise<void>;
  stop(name: ProgramName): Promise<void>;
  /** Ends it and removes its files. */
  close(): Promise<void>;
}

/** What may be stopped and started again. */
export type ProgramName = ComponentName | 'containerd' | 'kubelet';

export interface ClusterOptions {
  /** Fields of the KubeSchedulerConfiguration, for instance extenders. */
  readonly schedulerConfiguration?: object;
  /** Flags of the API server, in addition to those of every control plane. */
  readonly apiServerFlags?: readonly string[];
  /** A real node, which needs root (node/node-programs.ts); without it nodes are mere objects. */
  readonly node?: NodeKind;
  /** The kubeconfig of a cluster that is there already: nothing is started, but what this run starts ends with it. */
  readonly existing?: string;
}

export type Startup =
  { readonly kind: 'ready'; readonly cluster: Cluster } | { readonly kind: 'missing'; readonly because: string };

type Answer = Readonly<Record<string, unknown>>;

type Keeper = ChildProcessByStdio<Writable, Readable, null>;

/** A node's addresses, links and mounts are its own, and gone with the last of its processes. */
export const OWN_NAMESPACES = ['--net', '--mount', '--propagation=private'];
const KEEPER = fileURLToPath(new URL('./keeper.ts', import.meta.url));

/**
 * Starts a control plane in a process that cannot outlive this one; if that process is killed, this one ends what it
 * left. Rejects when the control plane does not come up.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Startup> {
  const keeper = await spawnKeeper(options);
  const gone = once(keeper, 'exit').then(() => sweepDeadRuns());
  // That a keeper is gone shows in its exit, not in the pipe to it.
  keeper.stdin.on('error', () => undefined);
  const next = answersOf(keeper);
  const first = await next();
  const ready = first['ready'] as Pick<Cluster, 'folder' | 'kubeconfig' | 'auditLog'> | undefined;
  if (ready === undefined) {
    await gone;
    if (typeof first['missing'] === 'string') return { kind: 'missing', because: first['missing'] };
    throw new Error(`the control plane did not start: ${String(first['failed'])}`);
  }

  async function order(line: string): Promise<void> {
    keeper.stdin.write(`${line}\n`);
    const answer = await next();
    if ('failed' in answer) throw new Error(`cannot ${line}: ${String(answer['failed'])}`);
  }
  return {
    kind: 'ready',
    cluster: {
      ...ready,
      start: (name) => order(`start ${name}`),
      stop: (name) => order(`stop ${name}`),
      close: () => {
        keeper.stdin.end();
        return gone;
      },
    },
  };
}

async function spawnKeeper(options: ClusterOptions): Promise<Keeper> {
  const { schedulerConfiguration, apiServerFlags, node, existing } = options;
  const env = { ...process.env };
  if (existing !== undefined) env['PLIMSOLL_EXISTING_KUBECONFIG'] = existing;
  if (schedulerConfiguration !== undefined) {
    env['PLIMSOLL_SCHEDULER_CONFIGURATION'] = JSON.stringify(schedulerConfiguration);
  }
  if (apiServerFlags !== undefined) env['PLIMSOLL_API_SERVER_FLAGS'] = JSON.stringify(apiServerFlags);
  if (node === undefined) return spawn(process.execPath, [KEEPER], { stdio: ['pipe', 'pipe', 'inherit'], env });
  env['PLIMSOLL_NODE'] = node;
  const command = [...OWN_NAMESPACES, process.execPath, KEEPER];
  const keeper = spawn('unshare', command, { stdio: ['pipe', 'pipe', 'inherit', 'ipc'], env }) as Keeper;
  await handPortTo(keeper);
  return keeper;
}

function answersOf(keeper: ChildProcess): () => Promise<Answer> {
  if (keeper.stdout === null) throw new Error('the keeper has no standard output');
  const lines = createInterface({ input: keeper.stdout })[Symbol.asyncIterator]();
  return async () => {
    const { done, value } = await lines.next();
    return done === true ? { failed: 'the keeper ended' } : (JSON.parse(value) as Answer);
  };
}
