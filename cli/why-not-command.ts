import { Command } from 'commander';
import { addClusterOptions } from './cluster/cluster-options.ts';
import { addSelectorOption } from './cluster/label-selector.ts';
import { addListOptions } from './output/output-option.ts';
import { type ProcessIo, rootName } from './process-io.ts';
import type { WhyNotOptions } from './why-not/run-why-not.ts';

function help(program: string): string {
  return `
Says for each node why the pod does not go there, and names the pod in the way:
one on another node whose anti-affinity keeps it away, one that opted out of
preemption, a victim that does not terminate. Without a name, prints one line
for each pending pod.

Examples:
  # Why is this pod pending?
  ${program} why-not team-a/web

  # All pending pods of a saved cluster
  ${program} why-not -A -f cluster.json
`;
}

/** `plimsoll why-not`: why a pod is not placed. */
export function whyNotCommand(io: ProcessIo): Command {
  const command = new Command('why-not')
    .summary('explain why a pod is not placed on a node')
    .description('Explain why a pod is not placed on a node.')
    .argument('[pod]', 'NAMESPACE/NAME, NAME or pod/NAME; without it all pending pods')
    .option('-n, --namespace <namespace>', 'namespace of the pod')
    .option('-A, --all-namespaces', 'pending pods of all namespaces', false)
    .option('--no-extender', "as kube-scheduler without Plimsoll's extender");
  return addClusterOptions(addListOptions(addSelectorOption(command, 'pending pods')))
    .addHelpText('after', () => help(rootName(command)))
    .action(async (pod: string | undefined, options: WhyNotOptions) => {
      const { runWhyNot } = await import('./why-not/run-why-not.ts');
      await runWhyNot(pod, options, io);
    });
}
