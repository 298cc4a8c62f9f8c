import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { component, type Component } from '#test/cluster/support/control-plane/component.ts';
import { runProgram } from '#test/cluster/support/run-program.ts';
import { markedEnvironment } from '#test/cluster/support/run/leftovers.ts';
import { waitUntil } from '#test/cluster/support/wait-until.ts';
import { containerdConfiguration, containerdSocket, podNetwork } from './containerd-configuration.ts';
import type { NodePrograms } from './node-programs.ts';

export interface ContainerdOptions {
  /** The run's folder. */
  readonly folder: string;
  readonly programs: NodePrograms;
  /** Archives to have before the first pod. */
  readonly images: readonly string[];
}

export interface Containerd {
  readonly component: Component;
  readonly socket: string;
}

/** Starts containerd and hands it the images. Rejects with its log when it does not come up. */
export async function startContainerd({ folder, programs, images }: ContainerdOptions): Promise<Containerd> {
  const own = join(folder, 'containerd');
  const socket = containerdSocket(own);
  const containerd = component(
    programs.paths.containerd,
    ['--config', layOut(folder, own, programs)],
    join(folder, 'containerd.log'),
    withShim(folder, programs),
  );
  const ctr = ['--address', socket, '--namespace', 'k8s.io'];
  const answers = (): boolean => spawnSync(programs.paths.ctr, [...ctr, 'version']).status === 0;
  containerd.start();
  const components = [['containerd', containerd]] as const;
  await waitUntil(() => Promise.resolve(answers()), { what: 'containerd', components });
  for (const image of images) runProgram(programs.paths.ctr, [...ctr, 'images', 'import', '--local', image]);
  return { component: containerd, socket };
}

/** The path of its configuration file. */
function layOut(folder: string, own: string, { paths, networkPlugins }: NodePrograms): string {
  const networks = join(folder, 'networks');
  for (const each of [own, networks]) mkdirSync(each);
  writeFileSync(join(networks, '10-pods.conflist'), JSON.stringify(podNetwork(join(folder, 'network-data'))));
  const file = join(folder, 'containerd.toml');
  writeFileSync(file, containerdConfiguration({ folder: own, runc: paths.runc, networkPlugins, networks }));
  return file;
}

/** It looks for its shim on the PATH. */
function withShim(folder: string, { paths }: NodePrograms): NodeJS.ProcessEnv {
  const env = markedEnvironment(folder);
  return { ...env, PATH: `${join(paths['containerd-shim-runc-v2'], '..')}:${env['PATH'] ?? ''}` };
}
