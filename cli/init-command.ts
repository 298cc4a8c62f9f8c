import { Command } from 'commander';
import { addKubeconfigOptions } from './cluster/cluster-options.ts';
import type { InitOptions } from './init/run-init.ts';
import { dryRunOption, type ProcessIo } from './process-io.ts';

const HELP = `
Prints the objects of a first day as YAML: two priority classes, a policy that
warns, a quota, a queue and a policy for nodes in dry run. They refuse and evict
nothing. With --apply it creates them. What exists is never changed, and a
policy, quota or queue is left out where others of its kind exist.

Exit codes: 0, done; 1, an object was refused; 2, the command or its input
cannot be used.
`;

/** `plimsoll init`: the objects of a first day. */
export function initCommand(io: ProcessIo): Command {
  const command = new Command('init')
    .summary('print or create the objects of a first day')
    .description('Print the objects of a first day, which only report, or create them.')
    .option('--apply', 'create the objects in the cluster', false)
    .addOption(dryRunOption());
  return addKubeconfigOptions(command)
    .addHelpText('after', HELP)
    .action(async (options: InitOptions) => {
      const { runInit } = await import('./init/run-init.ts');
      await runInit(options, io);
    });
}
