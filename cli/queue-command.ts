import { Command } from 'commander';
import { addKubeconfigOptions } from './cluster/cluster-options.ts';
import { dryRunOption, type ProcessIo, rootName } from './process-io.ts';
import { addListOptions } from './output/output-option.ts';
import type { QueueListOptions } from './queue/run-list.ts';
import type { ReleaseOptions } from './queue/run-release.ts';

function help(program: string): string {
  return `
Removes the scheduling gate plimsoll.dev/queue from waiting pods, so that
kube-scheduler places them even if their queue has nothing left. Other
scheduling gates stay. Works while no leader of the queues runs, and after it was uninstalled.
While the queues are on, new pods get the gate again.

Examples:
  ${program} queue release -n team-a

  # Before queues are switched off
  ${program} queue release --all-namespaces

Exit codes: 0, no pod has the gate any more; 1, at least one still has it; 2,
the command or its input cannot be used. It needs the rights to list and patch
pods and, while the queues are on, the verb release on queues.plimsoll.dev.
`;
}

/** `plimsoll queue`: queues, their pods, and manual operations on them. */
export function queueCommand(io: ProcessIo): Command {
  return new Command('queue')
    .summary('list queues, or release pods from them')
    .description('List queues, or release pods from them.')
    .addCommand(listCommand(io))
    .addCommand(releaseCommand(io));
}

function listCommand(io: ProcessIo): Command {
  const command = new Command('list')
    .alias('ls')
    .summary('list queues, or the pods of a namespace in them')
    .description('List queues, or the pods of a namespace in them: the default without the right to list queues.')
    .option('-n, --namespace <namespace>', 'pods of this namespace')
    .option('--resource <name>', 'resource to show of queues', 'cpu');
  return addKubeconfigOptions(addListOptions(command)).action(async (options: QueueListOptions) => {
    const { runQueueList } = await import('./queue/run-list.ts');
    await runQueueList(options, io);
  });
}

function releaseCommand(io: ProcessIo): Command {
  const command = new Command('release')
    .summary('remove the scheduling gate of pods that wait in queues')
    .description('Remove the scheduling gate of pods that wait in queues.')
    .option('-n, --namespace <namespace>', 'namespace of the pods; default: that of the kubeconfig')
    .option('-A, --all-namespaces', 'pods of all namespaces', false)
    .addOption(dryRunOption());
  return addKubeconfigOptions(command)
    .addHelpText('after', () => help(rootName(command)))
    .action(async (options: ReleaseOptions) => {
      const { runRelease } = await import('./queue/run-release.ts');
      await runRelease(options, io);
    });
}
