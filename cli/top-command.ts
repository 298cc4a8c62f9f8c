import { Command, Option } from 'commander';
import { SPARE_KINDS } from '#shared/domain/spare/spare-resources.ts';
import { addClusterOptions } from './cluster/cluster-options.ts';
import { addSelectorOption } from './cluster/label-selector.ts';
import { addListOptions, addWatchOption } from './output/output-option.ts';
import type { ProcessIo } from './process-io.ts';
import type { TopOptions, TopQueuesOptions, TopSpareOptions } from './top/run-top.ts';

const HELP = `
AGE is the time since the agent of the node reported. -w prints a row again when
anything but its age changes.
`;

const QUOTAS_HELP = `
Shows PriorityQuotas, and ResourceQuotas that count priority classes. FREE is
what pods may still request. plimsoll explain quota NAME names the five largest
namespaces of a PriorityQuota.
`;

/** `plimsoll top`: what the agents report, and the order of priorities. */
export function topCommand(io: ProcessIo): Command {
  return new Command('top')
    .summary('show pressure of nodes, pods that would be evicted next, priorities, quotas, queues and spare room')
    .description(
      'Show the pressure of nodes, pods that would be evicted next, priorities, their quotas, queues, and spare room.',
    )
    .addCommand(nodesCommand(io))
    .addCommand(podsCommand(io))
    .addCommand(prioritiesCommand(io))
    .addCommand(quotasCommand(io))
    .addCommand(queuesCommand(io))
    .addCommand(spareCommand(io));
}

function nodesCommand(io: ProcessIo): Command {
  const command = new Command('nodes')
    .aliases(['node', 'no'])
    .summary('show each node with its most urgent signal')
    .description('Show each node with the signal in the worst state, most urgent nodes first.')
    .argument('[node]', 'NAME or node/NAME; without it all nodes');
  return addFlags(addSelectorOption(command, 'nodes'), { isWatchable: true })
    .addHelpText('after', HELP)
    .action(async (node: string | undefined, options: TopOptions) => {
      const { runTopNodes } = await import('./top/run-top.ts');
      await runTopNodes(node, options, io);
    });
}

function podsCommand(io: ProcessIo): Command {
  const command = new Command('pods')
    .aliases(['pod', 'po'])
    .summary('show pods that would be evicted next, and why')
    .description('Show the pods that would be evicted next on each node, ten at most, and why.')
    .option('-n, --namespace <namespace>', 'only pods of this namespace')
    .option('-A, --all-namespaces', 'pods of all namespaces: the default');
  return addFlags(addSelectorOption(command, 'pods'), { isWatchable: true })
    .addHelpText('after', HELP)
    .action(async (options: TopOptions) => {
      const { runTopPods } = await import('./top/run-top.ts');
      await runTopPods(options, io);
    });
}

function prioritiesCommand(io: ProcessIo): Command {
  const command = new Command('priorities')
    .aliases(['priority'])
    .summary('show priority classes with their pods and requests')
    .description('Show all priorities, the highest first, with the pods of each and what they request.');
  return addFlags(command, { isWatchable: false }).action(async (options: TopOptions) => {
    const { runTopPriorities } = await import('./top/run-top.ts');
    await runTopPriorities(options, io);
  });
}

function quotasCommand(io: ProcessIo): Command {
  const command = new Command('quotas')
    .aliases(['quota', 'prquota'])
    .summary('show what is used and free of each quota by priority')
    .description('Show what is used and free of each quota by priority, and which namespace uses most.')
    .option('-n, --namespace <namespace>', 'what limits this namespace, quotas of Kubernetes included');
  return addFlags(command, { isWatchable: true })
    .addHelpText('after', QUOTAS_HELP)
    .action(async (options: TopOptions) => {
      const { runTopQuotas } = await import('./top/run-top.ts');
      await runTopQuotas(options, io);
    });
}

function queuesCommand(io: ProcessIo): Command {
  const command = new Command('queues')
    .aliases(['queue', 'que'])
    .summary('show queues: what each deserves, uses and waits for')
    .description('Show the queues as a tree: what each deserves, uses and waits for, as the leader reports it.')
    .option('--resource <name>', 'resource to show, such as memory or nvidia.com/gpu', 'cpu');
  return addFlags(command, { isWatchable: true }).action(async (options: TopQueuesOptions) => {
    const { runTopQueues } = await import('./top/run-top.ts');
    await runTopQueues(options, io);
  });
}

function spareCommand(io: ProcessIo): Command {
  const command = new Command('spare')
    .summary('show what each node could lend of what is requested and not used')
    .description('Show what each node could lend of what is requested and not used, most idle nodes first.')
    .addOption(new Option('--resource <name>', 'resource to show').choices(SPARE_KINDS).default('memory'));
  return addFlags(command, { isWatchable: true }).action(async (options: TopSpareOptions) => {
    const { runTopSpare } = await import('./top/run-top.ts');
    await runTopSpare(options, io);
  });
}

/** There are too many pods to watch. */
function addFlags(command: Command, { isWatchable }: { readonly isWatchable: boolean }): Command {
  addListOptions(command);
  return addClusterOptions(isWatchable ? addWatchOption(command) : command);
}
