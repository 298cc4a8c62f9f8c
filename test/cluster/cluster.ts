import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ComponentName } from './binaries.ts';

/** A running control plane of this run's own. */
export interface Cluster {
  readonly kubeconfig: string;
  readonly auditLog: string;
  start(name: ComponentName): Promise<void>;
  stop(name: ComponentName): Promise<void>;
  /** Ends it and removes its files. */
  close(): Promise<void>;
}

export type Startup =
  { readonly kind: 'ready'; readonly cluster: Cluster } | { readonly kind: 'missing'; readonly because: string };

type Answer = Readonly<Record<string, unknown>>;

const KEEPER = fileURLToPath(new URL('./keeper.ts', import.meta.url));

/** Starts a control plane in a process that cannot outlive this one. Rejects when it does not come up. */
export async function startCluster(schedulerConfiguration?: object): Promise<Startup> {
  const env = { ...process.env };
  if (schedulerConfiguration !== undefined) {
    env['PLIMSOLL_SCHEDULER_CONFIGURATION'] = JSON.stringify(schedulerConfiguration);
  }
  const keeper = spawn(process.execPath, [KEEPER], { stdio: ['pipe', 'pipe', 'inherit'], env });
  const next = answersOf(keeper);
  const first = await next();
  if (typeof first['missing'] === 'string') return { kind: 'missing', because: first['missing'] };
  const ready = first['ready'] as { readonly kubeconfig: string; readonly auditLog: string } | undefined;
  if (ready === undefined) throw new Error(`the control plane did not start: ${JSON.stringify(first)}`);

  async function order(line: string): Promise<void> {
    keeper.stdin.write(`${line}\n`);
    await next();
  }
  return {
    kind: 'ready',
    cluster: {
      ...ready,
      start: (name) => order(`start ${name}`),
      stop: (name) => order(`stop ${name}`),
      close: () => ended(keeper, () => keeper.stdin.end()),
    },
  };
}

function answersOf(keeper: ChildProcess): () => Promise<Answer> {
  if (keeper.stdout === null) throw new Error('the keeper has no standard output');
  const lines = createInterface({ input: keeper.stdout })[Symbol.asyncIterator]();
  return async () => {
    const { done, value } = await lines.next();
    return done === true ? { failed: 'the keeper ended' } : (JSON.parse(value) as Answer);
  };
}

function ended(keeper: ChildProcess, act: () => void): Promise<void> {
  return new Promise((resolve) => {
    keeper.once('exit', () => resolve());
    act();
  });
}
