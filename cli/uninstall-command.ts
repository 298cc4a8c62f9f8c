import { Command, Option } from 'commander';
import { addKubeconfigOptions } from './cluster/cluster-options.ts';
import { listOutputOption } from './output/output-option.ts';
import type { ProcessIo } from './process-io.ts';
import { ONLY_DRY_RUN } from './uninstall/messages.ts';
import type { UninstallOptions } from './uninstall/run-uninstall.ts';

const HELP = `
Lists the objects with the label app.kubernetes.io/part-of=plimsoll in the
order in which to remove them, and what stays: the definitions with their
policies and quotas, and taints and labels of Plimsoll. It removes nothing.

With --clean-up, after the release or the manifests are deleted: removes what
no manifest names, the scheduling gates of waiting pods, and the Leases, taints
and node conditions of Plimsoll. With --dry-run=client it only lists them.

Exit codes: 0, done; 1, something stays; 2, the command or its input cannot be
used.
`;

/** `plimsoll uninstall --dry-run=client`: what uninstalling removes, and what stays. */
export function uninstallCommand(io: ProcessIo): Command {
  const command = new Command('uninstall')
    .summary('list what an uninstallation removes, and what stays')
    .description('List what an uninstallation removes, in order, and what stays.')
    .addOption(new Option('--dry-run <strategy>', 'only print what would be removed').choices(['client']))
    .option('--clean-up', 'remove what a deleted release or deleted manifests leave')
    .addOption(listOutputOption());
  return addKubeconfigOptions(command)
    .addHelpText('after', HELP)
    .action(async ({ dryRun, cleanUp, ...options }: UninstallOptions & { dryRun?: 'client'; cleanUp?: true }) => {
      if (dryRun === undefined && cleanUp === undefined) command.error(ONLY_DRY_RUN);
      const { runCleanUp, runUninstall } = await import('./uninstall/run-uninstall.ts');
      if (cleanUp === undefined) await runUninstall(options, io);
      else await runCleanUp({ ...options, isDryRun: dryRun !== undefined }, io);
    });
}
