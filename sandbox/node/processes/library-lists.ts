import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import type * as NodeOsUtils from 'node-os-utils';
import type * as Systeminformation from 'systeminformation';
import type { ListProcesses } from './listed-source.ts';

const require = createRequire(import.meta.url);
const KIBIBYTE = 1024;

/**
 * Lists with systeminformation, loaded from its own file, since the whole library takes 3 MiB more. On macOS it passes
 * on the percentage of one processor that `ps` prints; elsewhere it computes that of all.
 */
export const listWithSysteminformation: ListProcesses = async () => {
  const { processes } = require('systeminformation/lib/processes.js') as Pick<typeof Systeminformation, 'processes'>;
  const { list } = await processes();
  const processors = process.platform === 'darwin' ? 1 : availableParallelism();
  return list.map(({ pid, memRss, cpu }) => ({ pid, rssBytes: memRss * KIBIBYTE, cores: (cpu / 100) * processors }));
};

/** Lists with node-os-utils, which on Windows knows no CPU use, and on Linux the average since a process started. */
export const listWithNodeOsUtils: ListProcesses = async () => {
  const { AdapterFactory, ProcessMonitor } = await import('node-os-utils');
  const adapter = withTrimmedLines(AdapterFactory.create());
  const answer = await new ProcessMonitor(adapter, { cacheEnabled: false }).list({ skipLimit: true });
  if (!answer.success) throw new Error(`cannot list processes with node-os-utils: ${answer.error.message}`);
  return answer.data.map(({ pid, memoryUsage, cpuUsage }) => ({
    pid,
    rssBytes: memoryUsage.toBytes(),
    cores: cpuUsage / 100,
  }));
};

type Adapter = ReturnType<typeof NodeOsUtils.AdapterFactory.create>;

/** On Linux node-os-utils 2.0.5 overlooks a process whose number has fewer digits than others: `ps` pads it with blanks. */
export function withTrimmedLines(adapter: Adapter): Adapter {
  const execute = adapter.executeCommand.bind(adapter);
  adapter.executeCommand = async (command, options) => {
    const result = await execute(command, options);
    return { ...result, stdout: result.stdout.replace(/^ +/gm, '') };
  };
  return adapter;
}
