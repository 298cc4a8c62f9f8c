import { Command } from 'commander';
import { buildInfo } from '#shared/runtime/build-info.ts';
import type { ProcessIo } from './process-io.ts';

/** `plimsoll version`: which build this is. */
export function versionCommand(io: ProcessIo): Command {
  const description = 'Print version, commit and Node.js version.';
  return new Command('version').description(description).action(() => {
    const { version, commit, node_version: node } = buildInfo('cli');
    io.print(`plimsoll ${version} (commit ${commit}, Node.js ${node})\n`);
  });
}
