import { Argument, Command } from 'commander';
import { addClusterOptions } from './cluster/cluster-options.ts';
import type { ExplainOptions } from './explain/explain-disruption.ts';
import { outputOption } from './output/output-option.ts';
import { type ProcessIo, rootName } from './process-io.ts';

function help(program: string): string {
  return `
Shows priority, policy, place in the eviction order and protection of a pod, or
the limits of a PriorityQuota, its usage, and the largest namespaces. Of a
removed pod it shows what its Disruptions record: when it was removed, by what
and why, for which pod room was set aside, and what became of it.

Examples:
  ${program} explain pod team-a/web
  ${program} explain pod/web -n team-a
  ${program} explain quota/critical

  # Why was it removed?
  ${program} explain pod team-a/web-0
  ${program} explain disruption web-0.0a1b2c3d -n team-a
`;
}

/** `plimsoll explain`: how Plimsoll treats a pod or a quota, and why a pod was removed. */
export function explainCommand(io: ProcessIo): Command {
  const command = new Command('explain');
  command
    .summary('explain priority and protection of a pod, a quota, or why a pod was removed')
    .description('Explain how Plimsoll treats a pod or a quota, or why a pod was removed.')
    .addArgument(typeArgument())
    .argument('[name]', 'NAME; of a pod or a Disruption also NAMESPACE/NAME')
    .option('-n, --namespace <namespace>', 'namespace of the pod or the Disruption')
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
  const argument = new Argument('<type>', 'pod, quota, disruption, or TYPE/NAME');
  argument.argChoices = ['pod', 'quota', 'disruption'];
  return argument;
}
