import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Clock } from '#shared/runtime/clock.ts';
import { listWithNodeOsUtils, listWithSysteminformation } from './library-lists.ts';
import { createListedSource, type ListProcesses } from './listed-source.ts';
import type { ProcessSource, ProcessSourceName } from './process-source.ts';
import { PROCFS_SOURCE } from './procfs-source.ts';
import { SMALL_HEAP } from './small-heap.ts';

const PRINT_OWN_MEMORY = 'process.stdout.write(String(process.memoryUsage.rss()))';

/** The source asked for; without a wish /proc where it exists, else the first library that lists processes. */
export async function openProcessSource(
  wanted: ProcessSourceName | undefined,
  clock: Pick<Clock, 'monotonic'>,
): Promise<ProcessSource> {
  if (wanted === 'procfs' || (wanted === undefined && hasProcfs())) return PROCFS_SOURCE;
  const idleRssBytes = await readIdleRss();
  const { name, list } = listOf(wanted);
  return createListedSource({ name, list, idleRssBytes, clock });
}

/** Whether processes can be measured through /proc. */
export function hasProcfs(): boolean {
  return existsSync('/proc/self/status');
}

function listOf(wanted: Exclude<ProcessSourceName, 'procfs'> | undefined): {
  readonly name: string;
  readonly list: ListProcesses;
} {
  if (wanted === 'systeminformation') return { name: wanted, list: listWithSysteminformation };
  if (wanted === 'node-os-utils') return { name: wanted, list: listWithNodeOsUtils };
  const list = firstToList(listWithSysteminformation, listWithNodeOsUtils);
  return { name: 'systeminformation and node-os-utils', list };
}

/** systeminformation answers with an empty list where it fails. */
export function firstToList(first: ListProcesses, second: ListProcesses): ListProcesses {
  return async () => {
    const listed = await first().catch(() => []);
    return listed.length > 0 ? listed : second();
  };
}

async function readIdleRss(): Promise<number> {
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [...SMALL_HEAP, '--eval', PRINT_OWN_MEMORY], { env: {} });
  return Number(stdout);
}
