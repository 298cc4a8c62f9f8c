import { Command } from 'commander';
import { addKubeconfigOptions } from './cluster/cluster-options.ts';
import { type ProcessIo, rootName } from './process-io.ts';
import type { SnapshotOptions } from './snapshot/run-snapshot.ts';

function help(program: string): string {
  return `
Writes nodes, namespaces, priority classes, disruption budgets, pods, the
objects of Plimsoll, ResourceQuotas, and what plimsoll check reads (webhooks,
names of CustomResourceDefinitions, profiles of kube-scheduler in ConfigMaps) as
one List, reduced to what decisions and explanations read: no environment,
images, commands or other annotations. The other commands read it with -f. It
needs the right to list these kinds; without that for quotas, limits of
disruptions and what plimsoll check reads, the file is written without them.

--redact replaces the names of namespaces, pods, containers, owners, budgets,
DisruptionLimits, ResourceQuotas, ConfigMaps and users and the values of labels:
the same name gets the same replacement within one file, and another one in the
next file.
Names of nodes, priority classes, policies, PriorityQuotas and webhooks and the
keys of labels are kept. Redaction changes no decision.

Examples:
  ${program} snapshot -o cluster.json

  # To attach to a report
  ${program} snapshot --redact -o cluster.json
`;
}

/** `plimsoll snapshot`: the cluster in one file. */
export function snapshotCommand(io: ProcessIo): Command {
  const command = new Command('snapshot');
  command
    .summary('save the state of a cluster in one file')
    .description('Save the state of a cluster, reduced to what decisions read, in one file.')
    .option('-o, --output <file>', 'file to write, .yaml or .yml for YAML; default: JSON to standard output')
    .option('--redact', 'replace names and label values', false);
  return addKubeconfigOptions(command)
    .addHelpText('after', () => help(rootName(command)))
    .action(async (options: SnapshotOptions) => {
      const { runSnapshot } = await import('./snapshot/run-snapshot.ts');
      await runSnapshot(options, io);
    });
}
