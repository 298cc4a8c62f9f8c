import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const MANIFESTS = ['deploy/base', 'deploy/crds'];

/**
 * Puts deploy/ as it was before the last change of the manifests into a folder, and names it. Without a history these are
 * the present ones.
 */
export function previousDeploy(folder: string): string {
  const changes = output('git', ['rev-list', '-2', 'HEAD', '--', ...MANIFESTS])
    .trim()
    .split('\n');
  const previous = join(folder, 'previous');
  mkdirSync(previous);
  const archive = spawnSync('git', ['archive', changes.at(-1) || 'HEAD', 'deploy'], { cwd: ROOT, maxBuffer: 64 << 20 });
  const { status } = spawnSync('tar', ['-x', '-C', previous], { input: archive.stdout });
  if (archive.status !== 0 || status !== 0) throw new Error('cannot read the manifests of the change before from git');
  return join(previous, 'deploy');
}

function output(program: string, args: readonly string[]): string {
  return spawnSync(program, args, { cwd: ROOT, encoding: 'utf8' }).stdout;
}
