import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '#test/cluster/support/control-plane/cluster.ts';
import { findBinaries } from '#test/cluster/support/control-plane/binaries.ts';
import { component } from '#test/cluster/support/control-plane/component.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { markedEnvironment } from '#test/cluster/support/run/leftovers.ts';

/** A kube-scheduler with its own name that runs only while it is measured. */
export interface PausedScheduler {
  /** What pods name as their scheduler. */
  readonly name: string;
  readonly pause: () => void;
  readonly resume: () => void;
  readonly stop: () => Promise<void>;
}

export interface PausedSchedulerOptions {
  readonly name: string;
  /** Entries of its configuration. */
  readonly extenders: readonly object[];
  /** Its `clientConnection`; without it, kube-scheduler's default of 50 requests a second applies. */
  readonly rate?: { readonly qps: number; readonly burst: number };
}

/** Starts one in addition to that of the cluster; it ends with the cluster at the latest. */
export async function startPausedScheduler(
  { folder, kubeconfig }: Pick<Cluster, 'folder' | 'kubeconfig'>,
  { name, extenders, rate }: PausedSchedulerOptions,
): Promise<PausedScheduler> {
  const binaries = findBinaries(process.env);
  if (binaries.kind === 'missing') throw new Error(binaries.because);
  const file = join(folder, `${name}.json`);
  const clientConnection = { kubeconfig, ...rate };
  writeFileSync(file, JSON.stringify({ ...configurationOf(name), clientConnection, extenders }));
  const [port = 0] = await freePorts(1);
  const access = [`--authentication-kubeconfig=${kubeconfig}`, `--authorization-kubeconfig=${kubeconfig}`];
  const flags = [`--config=${file}`, ...access, '--bind-address=127.0.0.1', `--secure-port=${port}`];
  const log = join(folder, `${name}.log`);
  const scheduler = component(binaries.paths['kube-scheduler'], flags, log, markedEnvironment(folder));
  scheduler.start();
  const signal = (kind: NodeJS.Signals) => () => void process.kill(scheduler.pid() ?? NaN, kind);
  return { name, pause: signal('SIGSTOP'), resume: signal('SIGCONT'), stop: () => scheduler.stop('SIGKILL') };
}

function configurationOf(schedulerName: string): object {
  return {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    leaderElection: { leaderElect: false },
    profiles: [{ schedulerName }],
  };
}
