import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { registerLeftover } from '#test/cluster/support/run/leftovers.ts';
import { mounts } from '#test/cluster/support/run/mount-table.ts';

/** A cpuset without these two takes no process. */
const INHERITED = ['cpuset.cpus', 'cpuset.mems'];

/**
 * Makes a group with that name below the root of every hierarchy, for a kubelet to put its own groups in; so a node is
 * not in the way of another one on this machine. It ends with the run of the folder.
 */
export function makeOwnCgroup(name: string, runFolder: string): void {
  registerLeftover(runFolder, { kind: 'cgroup', what: name });
  for (const { path, type } of mounts()) {
    if (type !== 'cgroup' && type !== 'cgroup2') continue;
    mkdirSync(join(path, name));
    for (const file of INHERITED) inherit(path, name, file);
  }
}

/** On v2 the group has what the root has by itself. */
function inherit(root: string, name: string, file: string): void {
  if (!existsSync(join(root, file))) return;
  writeFileSync(join(root, name, file), readFileSync(join(root, file)));
}
