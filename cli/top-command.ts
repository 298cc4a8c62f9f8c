import { Command } from 'commander';
import { addClusterOptions } from './cluster/cluster-options.ts';
import { outputOption } from './output.ts';
import type { ProcessIo } from './process-io.ts';
import type { TopOptions } from './top/run-top.ts';

/** `plimsoll top`: what the agents report. */
export function topCommand(io: ProcessIo): Command {
  return new Command('top')
    .summary('show pressure of nodes, and pods that would be evicted next')
    .description('Show what the agents report: the pressure of nodes, and pods that would be evicted next.')
    .addCommand(nodesCommand(io))
    .addCommand(podsCommand(io));
}

function nodesCommand(io: ProcessIo): Command {
  const command = new Command('nodes')
    .description('Show each node with the signal in the worst state, most urgent nodes first.')
    .addOption(outputOption());
  return addClusterOptions(command).action(async (options: TopOptions) => {
    const { runTopNodes } = await import('./top/run-top.ts');
    await runTopNodes(options, io);
  });
}

function podsCommand(io: ProcessIo): Command {
  const command = new Command('pods')
    .description('Show the pods that would be evicted next on each node, ten at most, and why.')
    .option('-n, --namespace <namespace>', 'pods of this namespace only')
    .addOption(outputOption());
  return addClusterOptions(command).action(async (options: TopOptions) => {
    const { runTopPods } = await import('./top/run-top.ts');
    await runTopPods(options, io);
  });
}
