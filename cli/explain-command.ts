import { Argument, Command } from 'commander';
import { addClusterOptions } from './cluster/cluster-options.ts';
import type { ExplainOptions } from './explain/run-explain.ts';
import { outputOption } from './output/output-option.ts';
import { type ProcessIo, rootName } from './process-io.ts';

function help(program: string): string {
  return `
Shows priority, policy, place in the eviction order and protection of a pod, or
the limits of a PriorityQuota, its usage, and the largest namespaces.

Examples:
  ${program} explain pod team-a/web
  ${program} explain pod/web -n team-a
  ${program} explain quota/critical
`;
}

/** `plimsoll explain`: how Plimsoll treats a pod or a quota. */
export function explainCommand(io: ProcessIo): Command {
  const command = new Command('explain');
  command
    .summary('explain the priority and protection of a pod, or a quota')
    .description('Explain how Plimsoll treats a pod or a quota.')
    .addArgument(typeArgument())
    .argument('[name]', 'NAME; of a pod also NAMESPACE/NAME')
    .option('-n, --namespace <namespace>', 'namespace of the pod')
    .addOption(outputOption());
  return addClusterOptions(command)
    .addHelpText('after', () => help(rootName(command)))
    .action(async (type: string, name: string | undefined, options: ExplainOptions) => {
      const { runExplain } = await import('./explain/run-explain.ts');
      await runExplain(name === undefined ? [type] : [type, name], options, io);
    });
}

/** The choices are for completion: kubectl's other words for a type, and `TYPE/NAME`, are understood as well. */
function typeArgument(): Argument {
  const argument = new Argument('<type>', 'pod, quota, or TYPE/NAME');
  argument.argChoices = ['pod', 'quota'];
  return argument;
}
