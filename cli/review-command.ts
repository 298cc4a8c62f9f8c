import { Command } from 'commander';
import { addConnectionOptions } from './cluster/cluster-options.ts';
import { addListOptions } from './output/output-option.ts';
import type { ProcessIo } from './process-io.ts';
import type { ReviewOptions } from './review/run-review.ts';

function help(program: string): string {
  return `
Reads Pods and what makes Pods (Deployment, StatefulSet, DaemonSet, ReplicaSet,
ReplicationController, Job, CronJob), also in Lists, and judges each as if it
were created now.

What they are judged by may stand in the same files: PriorityClasses,
Namespaces, PriorityPolicies, PriorityQuotas and ResourceQuotas (status.hard and
status.used, else spec.hard with nothing used). With --kubeconfig or --context
it is read from the cluster, and an object in the files takes the place of the
one of the same name there.

Objects are judged in the order in which they are given. An admitted Pod is
charged to its quotas, so that the next one finds less room; a template is
judged once, whatever its replicas, and charges nothing. ResourceQuotas without
a PriorityClass scope are Kubernetes' own affair and are not looked at.

Exit code: 0 nothing would be refused, 1 something would be, be it only the pods
of a template, 2 the command or its input cannot be used; a field that a kind of
Plimsoll does not have is such input.

Examples:
  # What would the webhook say to this directory, if alice applied it?
  ${program} review -f manifests/ --as alice --as-group developers

  # The same by the classes, quotas and policies of a cluster
  helm template . | ${program} review -f - --context production -n team-a

  # Only what would be refused, for another program
  ${program} review -f manifests/ -o json | jq '.items[] | select(.allowed | not)'
`;
}

/** `plimsoll review`: what the webhook would say to the objects in files. */
export function reviewCommand(io: ProcessIo): Command {
  const command = new Command('review')
    .summary('show what the webhook would answer to the objects in files')
    .description('Show what the webhook would answer to each pod and pod template in files.')
    .option('-f, --filename <manifests...>', 'files or directories of YAML or JSON, or - for standard input')
    .option('--as <user>', 'who creates the objects')
    .option('--as-group <group...>', 'groups of that user')
    .option('-n, --namespace <namespace>', 'namespace of objects that name none')
    .option('--fail-on-warnings', 'exit with 1 for warnings, too');
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
