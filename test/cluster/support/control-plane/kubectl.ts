import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { findBinaries } from './binaries.ts';

/** What kubectl said, and its exit code; null when it was killed. */
export interface KubectlAnswer {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the kubectl of the version under test, or on an existing cluster the one on the PATH, with `input` as its standard
 * input. Rejects when there is none.
 */
export async function kubectl(kubeconfig: string, args: readonly string[], input = ''): Promise<KubectlAnswer> {
  const child = spawn(kubectlProgram(), ['--kubeconfig', kubeconfig, ...args]);
  const closed = once(child, 'close') as Promise<[number | null]>;
  // Ending without having read everything is kubectl's right.
  child.stdin.on('error', () => undefined).end(input);
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { status, stdout, stderr };
}

/** The path of kubectl. Throws when there is none. */
export function kubectlProgram(): string {
  if (process.env['PLIMSOLL_TEST_KUBECONFIG'] !== undefined) return 'kubectl';
  const binaries = findBinaries(process.env);
  if (binaries.kind === 'missing') throw new Error(`cannot run kubectl: ${binaries.because}`);
  return binaries.paths.kubectl;
}
