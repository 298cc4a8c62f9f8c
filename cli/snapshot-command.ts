import { Command } from 'commander';
import { type ProcessIo, rootName } from './process-io.ts';
import type { SnapshotOptions } from './snapshot/run-snapshot.ts';

function help(program: string): string {
  return `
Writes nodes, namespaces, priority classes, disruption budgets, pods,
NodePressurePolicies, NodePressures and Disruptions as one List, reduced to what
decisions and explanations read: no environment, images, commands or other
annotations. The other commands read it with -f. It needs the right to list
these kinds.

--redact replaces the names of namespaces, pods, containers, owners and budgets
and the values of labels: the same name gets the same replacement within one
file, and another one in the next file. Names of nodes, priority classes and
policies and the keys of labels are kept. Redaction changes no decision.

Examples:
  ${program} snapshot -o cluster.json

  # To attach to a report
  ${program} snapshot --redact -o cluster.json
`;
}

/** `plimsoll snapshot`: the cluster in one file. */
export function snapshotCommand(io: ProcessIo): Command {
  const command = new Command('snapshot');
  return command
    .summary('save the state of a cluster in one file')
    .description('Save the state of a cluster, reduced to what decisions read, in one file.')
    .option('-o, --output <file>', 'file to write, .yaml or .yml for YAML; default: JSON to standard output')
    .option('--redact', 'replace names and label values', false)
    .option('--kubeconfig <file>', 'kubeconfig of the cluster; default as for kubectl')
    .option('--context <name>', 'context of the kubeconfig; default its current one')
    .addHelpText('after', () => help(rootName(command)))
    .action(async (options: SnapshotOptions) => {
      const { runSnapshot } = await import('./snapshot/run-snapshot.ts');
      await runSnapshot(options, io);
    });
}
