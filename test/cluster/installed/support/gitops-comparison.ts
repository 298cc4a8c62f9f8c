import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import {
  type Environment,
  ownGoProgram,
  type Programs,
  whyNotRun,
} from '#test/cluster/support/control-plane/go-programs.ts';

const MODULE = fileURLToPath(new URL('../../go/gitops/', import.meta.url));

/** How the program compares: as Argo CD with each of its three methods, and as Flux. */
export const WAYS = ['Argo CD', 'Argo CD, server-side', 'Argo CD, structured merge', 'Flux'] as const;

/** What the program of test/cluster/go/gitops prints. */
export interface GitOpsReport {
  /** Objects, by way. */
  readonly compared: Readonly<Record<(typeof WAYS)[number], number>>;
  readonly differences: readonly {
    readonly by: string;
    readonly object: string;
    readonly live: unknown;
    readonly predicted: unknown;
  }[];
}

/** Why nothing is compared, for the name of a group of tests; a failure where `CI` is set. */
export function whyNoGitOps(env: Environment): string | undefined {
  return whyNotRun(findGitOps(env), 'compare', env);
}

/** Compares manifests with what the API server holds. Rejects with what the program said. */
export async function whatDiffers(kubeconfig: string, manifests: readonly unknown[]): Promise<GitOpsReport> {
  const found = findGitOps(process.env);
  if (found.kind === 'missing') throw new Error(`cannot compare: ${found.because}`);
  const child = spawn(found.paths.gitops, [kubeconfig], { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(JSON.stringify(manifests));
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  if (code !== 0) throw new Error(`the comparison ended with ${String(code)}: ${stderr}`);
  return JSON.parse(stdout) as GitOpsReport;
}

/** The program of test/cluster/go/gitops, which compares with the code of Argo CD and of Flux. */
export function findGitOps(env: Environment): Programs<'gitops'> {
  return ownGoProgram('gitops', MODULE, env);
}
