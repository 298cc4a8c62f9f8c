import { readdirSync, readFileSync } from 'node:fs';

/** The numbers of all processes below this one, itself included, as they are now. */
export function processTree(root: number): readonly number[] {
  const children = Map.groupBy(livingProcesses(), ({ parent }) => parent);
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []).map((child) => child.pid));
  return tree;
}

/** Those of the processes that still live; a zombie does not. */
export function stillAlive(pids: readonly number[]): readonly number[] {
  const living = new Set(livingProcesses().map(({ pid }) => pid));
  return pids.filter((pid) => living.has(pid));
}

function livingProcesses(): readonly { readonly pid: number; readonly parent: number }[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    const stat = readStat(pid);
    // The name in brackets may hold anything; state and parent follow it.
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === undefined || state === '' || state === 'Z' ? [] : [{ pid: Number(pid), parent: Number(parent) }];
  });
}

/** Empty for a process that ended while we looked. */
function readStat(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}
