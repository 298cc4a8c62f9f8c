import { spawnSync } from 'node:child_process';
import { findBinaries } from './binaries.ts';

/** What kubectl said, and its exit code; null when it was killed. */
export interface KubectlAnswer {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the kubectl of the version under test. Throws when there is none. */
export function kubectl(kubeconfig: string, args: readonly string[]): KubectlAnswer {
  const binaries = findBinaries(process.env);
  if (binaries.kind === 'missing') throw new Error(`cannot run kubectl: ${binaries.because}`);
  return spawnSync(binaries.paths.kubectl, ['--kubeconfig', kubeconfig, ...args], { encoding: 'utf8' });
}
