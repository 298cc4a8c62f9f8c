import type { CgroupLayout } from './cgroup-layout.ts';
import { NumberFile } from '#agent/observe/source/field-file.ts';
import { absent, failed, reading, type Reading, type Source } from '#agent/observe/source/reading.ts';

/** Tasks of one cgroup, by which the kubelet ranks for `pid.available`. */
export interface CgroupPids {
  readonly tasks: number;
}

/** pids.current, the same file on v1 and v2; the root of either has none. */
export function pidsCgroupSource(layout: CgroupLayout, path: string): Source<CgroupPids> {
  const directory = `${layout.pids ?? ''}/${path}`;
  const current = new NumberFile(directory, 'pids.current');
  const noTree = absent('this node has no pids tree');

  function read(): Reading<CgroupPids> {
    if (layout.pids === undefined) return noTree;
    const tasks = current.readNumber();
    if (tasks === undefined) return current.missing;
    return Number.isFinite(tasks)
      ? reading({ tasks })
      : failed(`cannot use ${directory}/pids.current: expected a number`);
  }
  return { name: 'pids-cgroup', read, close: () => current.close() };
}
