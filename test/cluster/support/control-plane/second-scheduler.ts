import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { markedEnvironment } from '#test/cluster/support/run/leftovers.ts';
import { findBinaries } from './binaries.ts';
import type { Cluster } from './cluster.ts';
import { component, type Component } from './component.ts';

/** How a kube-scheduler beside that of the control plane runs. */
export interface SecondScheduler {
  readonly kubeconfig: string;
  /** The KubeSchedulerConfiguration; `clientConnection` is added. */
  readonly configuration: object;
  readonly securePort: number;
}

/** Starts a stock kube-scheduler, whose metrics every client may read. It ends with the cluster's run. */
export function startSecondScheduler({ folder }: Cluster, second: SecondScheduler): Component {
  const { kubeconfig, configuration, securePort } = second;
  const file = join(folder, 'second-scheduler.json');
  writeFileSync(file, JSON.stringify({ ...configuration, clientConnection: { kubeconfig } }));
  const binaries = findBinaries(process.env);
  if (binaries.kind === 'missing') throw new Error(binaries.because);
  const access = [`--authentication-kubeconfig=${kubeconfig}`, `--authorization-kubeconfig=${kubeconfig}`];
  const where = ['--bind-address=127.0.0.1', `--secure-port=${securePort}`];
  const flags = [`--config=${file}`, ...access, ...where, '--authorization-always-allow-paths=/healthz,/metrics'];
  const log = join(folder, 'second-scheduler.log');
  const started = component(binaries.paths['kube-scheduler'], flags, log, markedEnvironment(folder));
  started.start();
  return started;
}
