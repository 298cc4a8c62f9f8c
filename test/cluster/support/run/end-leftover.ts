import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { mounts } from './mount-table.ts';
import { textOf } from './process-identity.ts';
import { removeAll } from './remove-all.ts';
import { kill } from './run-processes.ts';

/** Kills what is in a cgroup and below it and removes it, in every hierarchy, of version 1 and 2. */
export async function endCgroup(path: string): Promise<void> {
  if (!/^[\w-]/.test(path) || path.includes('..')) throw new Error(`not a cgroup below the root: "${path}"`);
  const hierarchies = mounts().filter(({ type }) => type === 'cgroup' || type === 'cgroup2');
  const tree = (): readonly string[] => hierarchies.flatMap((mount) => foldersAt(join(mount.path, path)));
  await removeAll(() => tree().flatMap(processesIn), kill);
  await removeAll(tree, rmdirSync);
}

/** Unmounts everything at or below a path. */
export function endMounts(path: string): Promise<void> {
  const mountsAt = (): readonly string[] =>
    mounts()
      .map((mount) => mount.path)
      .filter((mounted) => mounted === path || mounted.startsWith(`${path}/`))
      .reverse();
  return removeAll(mountsAt, (mounted) => run('umount', [mounted]));
}

/** Deletes a named network namespace; what still runs in it keeps it alive without a name. */
export function endNetworkNamespace(name: string): Promise<void> {
  const named = (): readonly string[] => [name].filter((each) => existsSync(`/run/netns/${each}`));
  return removeAll(named, () => run('ip', ['netns', 'delete', name]));
}

/** The folder and all below it, deepest first; nothing where there is none. */
function foldersAt(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  const children = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [...children.flatMap(({ name }) => foldersAt(join(folder, name))), folder];
}

function processesIn(cgroup: string): readonly number[] {
  return textOf(join(cgroup, 'cgroup.procs')).split('\n').slice(0, -1).map(Number);
}

function run(command: string, args: readonly string[]): void {
  const { error, status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (error !== undefined || status !== 0) throw error ?? new Error(stderr);
}
