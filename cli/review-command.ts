import { Command } from 'commander';
import { addConnectionOptions } from './cluster/cluster-options.ts';
import { addListOptions } from './output/output-option.ts';
import type { ProcessIo } from './process-io.ts';
import type { ReviewOptions } from './review/run-review.ts';

function help(program: string): string {
  return `
Reads Pods and objects with a pod template (Deployment, StatefulSet, DaemonSet,
ReplicaSet, ReplicationController, Job, CronJob), also in Lists, and reviews
each as if it were created now.

Files may also contain PriorityClasses, Namespaces, PriorityPolicies,
PriorityQuotas and ResourceQuotas (status.hard and status.used, else spec.hard
with nothing used). With --kubeconfig or --context these are read from the
cluster; an object in the files replaces the one of the same name there. --as
names the user whose objects are reviewed; the cluster is read with your own
rights.

Objects are reviewed in the given order. An admitted Pod is charged to its
quotas, so less is left for the next one; a template is reviewed once, for any
number of replicas, and charges nothing. ResourceQuotas without a PriorityClass
scope are ignored.

Exit codes: 0, nothing would be refused; 1, something would be, even if only the
pods of a template; 2, the command or its input cannot be used. A field that
does not exist in a kind of Plimsoll is such input.

Examples:
  # What would the webhook answer if alice applied this directory?
  ${program} review -f manifests/ --as alice --as-group developers

  # The same with the classes, quotas and policies of a cluster
  helm template . | ${program} review -f - --context production -n team-a

  # Only what would be refused, for another program
  ${program} review -f manifests/ -o json | jq '.items[] | select(.allowed | not)'
`;
}

/** `plimsoll review`: how the webhook would answer to the objects in files. */
export function reviewCommand(io: ProcessIo): Command {
  const command = new Command('review')
    .summary('show what the webhook would answer to the objects in files')
    .description('Show what the webhook would answer to each pod and pod template in files.')
    .option('-f, --filename <manifests...>', 'files or directories of YAML or JSON, or - for standard input')
    .option('--as <user>', 'who creates the objects')
    .option('--as-group <group...>', 'groups of that user')
    .option('-n, --namespace <namespace>', 'namespace of objects that name none')
    .option('--fail-on-warnings', 'also exit with 1 if there are warnings');
  return addConnectionOptions(addListOptions(command))
    .addHelpText('after', ({ command }) => help(command.parent?.name() ?? 'plimsoll'))
    .action(async (options: ReviewOptions, command: Command) => {
      const mistake = findMistake(options);
      if (mistake !== undefined) command.error(`error: ${mistake}`);
      const { runReview } = await import('./review/run-review.ts');
      await runReview(options, io);
    });
}

/** Checked here and not by the parser, which would report it before a misspelt option. */
function findMistake({ filename, as: user, asGroup }: ReviewOptions): string | undefined {
  if (filename === undefined) return "required option '-f, --filename <manifests...>' not specified";
  return asGroup !== undefined && user === undefined ? "option '--as-group' needs '--as'" : undefined;
}
