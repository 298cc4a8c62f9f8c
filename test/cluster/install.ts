import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findBinaries } from './binaries.ts';

const BASE = fileURLToPath(new URL('../../deploy/base/', import.meta.url));

/** Applies deploy/base as an administrator does, with unknown and doubled fields refused. Throws kubectl's words. */
export function installPlimsoll(kubeconfig: string): void {
  const binaries = findBinaries(process.env);
  if (binaries.kind === 'missing') throw new Error(`cannot install Plimsoll: ${binaries.because}`);
  const args = ['--kubeconfig', kubeconfig, 'apply', '--server-side', '--validate=strict', '-k', BASE];
  const { status, stderr } = spawnSync(binaries.paths.kubectl, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`cannot install Plimsoll: ${stderr}`);
}
