import { Command, InvalidArgumentError } from 'commander';
import type { CheckOptions } from './check/run-check.ts';
import { addClusterOptions } from './cluster/cluster-options.ts';
import { addSortOptions, outputOption } from './output/output-option.ts';
import type { ProcessIo } from './process-io.ts';

const HELP = `
Checks the CustomResourceDefinitions, the registration of the webhook and its
certificate authorities, the reports of the agents and whether their memory
figures agree, pressure stall information, the rights of the accounts, webhooks
of others that may interfere, configurations of kube-scheduler in ConfigMaps,
DaemonSets of kube-system below the highest priority, and workloads whose
priority class is far above that of other workloads in the namespace. Each
finding names the next step.

The rights of the accounts and the cgroup versions of the nodes are checked
only on a cluster, not with -f.

With --pre-install it checks whether Plimsoll can be installed: the version of
the API server, its admission API, your rights, cgroup version and pressure
stall information of the nodes as far as their kubelets say, and what may
interfere.

Exit codes: 0, no errors (warnings do not count); 1, errors; 2, the command or
its input cannot be used.
`;

/** `plimsoll check`: whether the installation works, and likely mistakes in the cluster. */
export function checkCommand(io: ProcessIo): Command {
  const command = new Command('check')
    .summary('check the installation, and find likely mistakes')
    .description('Check the installation of Plimsoll, and find likely mistakes in the cluster.')
    .option('--pre-install', 'check whether Plimsoll can be installed in the cluster')
    .option('--wait <seconds>', 'check every second until there are no errors, for at most this long', seconds)
    .addOption(outputOption());
  return addClusterOptions(addSortOptions(command))
    .addHelpText('after', HELP)
    .action(async (options: CheckOptions) => {
      if (options.preInstall === true && options.filename !== undefined)
        command.error("error: '--pre-install' and '--filename' exclude each other");
      const { runCheck } = await import('./check/run-check.ts');
      await runCheck(options, io);
    });
}

const MAX_SECONDS = 86_400;

/** `60` or `60s`. */
function seconds(text: string): number {
  const value = /^\d{1,5}s?$/.test(text) ? Number.parseInt(text, 10) : NaN;
  if (!(value <= MAX_SECONDS)) throw new InvalidArgumentError(`expected seconds up to ${MAX_SECONDS}, such as 60s`);
  return value;
}
