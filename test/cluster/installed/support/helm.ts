import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { findHelm } from '#test/cluster/support/control-plane/find-helm.ts';
import { type Environment, whyNotRun } from '#test/cluster/support/control-plane/go-programs.ts';

/** What helm said, and its exit code. */
export interface HelmAnswer {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Why tests with helm are left out, for the name of their group; a failure where `CI` is set. */
export function whyNoHelm(env: Environment): string | undefined {
  return whyNotRun(findHelm(env), 'run helm', env);
}

/** Runs helm; what else a test does goes on meanwhile. Rejects when there is none. */
export async function helm(args: readonly string[]): Promise<HelmAnswer> {
  const found = findHelm(process.env);
  if (found.kind === 'missing') throw new Error(`cannot run helm: ${found.because}`);
  const child = spawn(found.paths.helm, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { status, stdout, stderr };
}
