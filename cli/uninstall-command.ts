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

Exit codes: 0, done; 2, the command or its input cannot be used.
`;

/** `plimsoll uninstall --dry-run=client`: what uninstalling removes, and what stays. */
export function uninstallCommand(io: ProcessIo): Command {
  const command = new Command('uninstall')
    .summary('list what an uninstallation removes, and what stays')
    .description('List what an uninstallation removes, in order, and what stays.')
    .addOption(new Option('--dry-run <strategy>', 'only print what would be removed').choices(['client']))
    .addOption(listOutputOption());
  return addKubeconfigOptions(command)
    .addHelpText('after', HELP)
    .action(async ({ dryRun, ...options }: UninstallOptions & { readonly dryRun?: 'client' }) => {
      if (dryRun === undefined) command.error(ONLY_DRY_RUN);
      const { runUninstall } = await import('./uninstall/run-uninstall.ts');
      await runUninstall(options, io);
    });
}
