import { Command } from 'commander';
import { addClusterOptions } from './cluster/cluster-options.ts';
import { listOutputOption } from './output/output-option.ts';
import type { ProcessIo } from './process-io.ts';
import type { TopOptions, TopQueuesOptions } from './top/run-top.ts';

const HELP = `
AGE is the time since the agent of the node reported.
`;

/** `plimsoll top`: what the agents report, and the order of priorities. */
export function topCommand(io: ProcessIo): Command {
  return new Command('top')
    .summary('show pressure of nodes, pods that would be evicted next, priorities and queues')
    .description('Show the pressure of nodes, pods that would be evicted next, the order of priorities, and queues.')
    .addCommand(nodesCommand(io))
    .addCommand(podsCommand(io))
    .addCommand(prioritiesCommand(io))
    .addCommand(queuesCommand(io));
}

function nodesCommand(io: ProcessIo): Command {
  const command = new Command('nodes')
    .aliases(['node', 'no'])
    .description('Show each node with the signal in the worst state, most urgent nodes first.')
    .argument('[node]', 'NAME or node/NAME; without it all nodes')
    .addOption(listOutputOption());
  return addClusterOptions(command)
    .addHelpText('after', HELP)
    .action(async (node: string | undefined, options: TopOptions) => {
      const { runTopNodes } = await import('./top/run-top.ts');
      await runTopNodes(node, options, io);
    });
}

function podsCommand(io: ProcessIo): Command {
  const command = new Command('pods')
    .aliases(['pod', 'po'])
    .description('Show the pods that would be evicted next on each node, ten at most, and why.')
    .option('-n, --namespace <namespace>', 'pods of this namespace only')
    .addOption(listOutputOption());
  return addClusterOptions(command)
    .addHelpText('after', HELP)
    .action(async (options: TopOptions) => {
      const { runTopPods } = await import('./top/run-top.ts');
      await runTopPods(options, io);
    });
}

function prioritiesCommand(io: ProcessIo): Command {
  const command = new Command('priorities')
    .aliases(['priority'])
    .description('Show all priorities, the highest first, with the pods of each and what they request.')
    .addOption(listOutputOption());
  return addClusterOptions(command).action(async (options: TopOptions) => {
    const { runTopPriorities } = await import('./top/run-top.ts');
    await runTopPriorities(options, io);
  });
}

function queuesCommand(io: ProcessIo): Command {
  const command = new Command('queues')
    .aliases(['queue', 'que'])
    .description('Show the queues as a tree: what each deserves, uses and waits for, as the leader reports it.')
    .option('--resource <name>', 'of which the amounts are, such as memory or nvidia.com/gpu', 'cpu')
    .addOption(listOutputOption());
  return addClusterOptions(command).action(async (options: TopQueuesOptions) => {
    const { runTopQueues } = await import('./top/run-top.ts');
    await runTopQueues(options, io);
  });
}
