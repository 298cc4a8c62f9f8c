import type { Readable } from 'node:stream';
import { Command, Option } from 'commander';
import { NO_KNOWN_PODS } from '#shared/domain/admission/known-pods.ts';
import { namespaceOf, type Manifest } from './review/manifest.ts';
import { parseManifests } from './review/parse-manifests.ts';
import { OUTPUT_FORMATS, printRows, type OutputFormat } from './review/print-rows.ts';
import { readCluster, type Cluster } from './review/read-cluster.ts';
import { readFiles } from './review/read-files.ts';
import { requesterOf } from './review/requester.ts';
import { review, type ReviewInput } from './review/review.ts';
import { describeIgnored, sortManifests } from './review/sort-manifests.ts';
import { InputError } from './input-error.ts';
import type { ProcessIo } from './process-io.ts';

interface ReviewOptions {
  readonly filename?: readonly string[];
  readonly as?: string;
  readonly asGroup?: readonly string[];
  readonly namespace?: string;
  readonly output: OutputFormat;
  readonly kubeconfig?: string;
  readonly context?: string;
}

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

Exit code: 0 nothing would be refused, 1 something would be, 2 the command or
its input cannot be used.

Examples:
  # What would the webhook say to this directory, if alice applied it?
  ${program} review -f manifests/ --as alice --as-group developers

  # The same by the classes, quotas and policies of a cluster
  helm template . | ${program} review -f - --context production -n team-a

  # Only what would be refused, for another program
  ${program} review -f manifests/ -o json | jq 'map(select(.allowed | not))'
`;
}

/** `plimsoll review`: what the webhook would say to the objects in files. */
export function reviewCommand(io: ProcessIo): Command {
  return new Command('review')
    .summary('show what the webhook would answer to the objects in files')
    .description('Show what the webhook would answer to each pod and pod template in files.')
    .option('-f, --filename <manifests...>', 'files or directories of YAML or JSON, or - for standard input')
    .option('--as <user>', 'who creates the objects')
    .option('--as-group <group...>', 'groups of that user')
    .option('-n, --namespace <namespace>', 'namespace of objects that name none')
    .addOption(new Option('-o, --output <format>', 'output format').choices(OUTPUT_FORMATS).default('table'))
    .option('--kubeconfig <file>', 'judge by what is in this cluster')
    .option('--context <name>', 'judge by what is in the cluster of this context')
    .addHelpText('after', ({ command }) => help(command.parent?.name() ?? 'plimsoll'))
    .action(async (options: ReviewOptions, command: Command) => {
      const mistake = findMistake(options);
      if (mistake !== undefined) command.error(`error: ${mistake}`);
      const { rows, ignored } = review(await readInput(options, io));
      const { output, warnings } = printRows(rows, options.output);
      for (const line of [...describeIgnored(ignored), ...warnings]) io.tell(line);
      io.print(output);
      io.exit(rows.every(({ allowed }) => allowed) ? 0 : 1);
    });
}

/** Checked here and not by the parser, which would report it before a misspelt option. */
function findMistake({ filename, as: user, asGroup }: ReviewOptions): string | undefined {
  if (filename === undefined) return "required option '-f, --filename <manifests...>' not specified";
  return asGroup !== undefined && user === undefined ? "option '--as-group' needs '--as'" : undefined;
}

async function readInput(options: ReviewOptions, io: ProcessIo): Promise<ReviewInput> {
  const manifests = await readManifests(options.filename ?? [], io.standardInput);
  const cluster = await clusterOf(options, manifests);
  return {
    manifests,
    inCluster: cluster.manifests,
    knownPods: cluster.knownPods,
    requester: options.as === undefined ? cluster.requester : requesterOf(options.as, options.asGroup),
    namespace: options.namespace ?? cluster.namespace ?? DEFAULT_NAMESPACE,
    now: io.now(),
  };
}

async function readManifests(paths: readonly string[], standardInput: Readable): Promise<readonly Manifest[]> {
  const files = await readFiles(paths, standardInput);
  const manifests = files.flatMap(parseManifests);
  if (manifests.length === 0) throw new InputError(`no objects in ${paths.join(', ')}`);
  return manifests;
}

const DEFAULT_NAMESPACE = 'default';
const NO_CLUSTER: Cluster = {
  manifests: [],
  requester: requesterOf(),
  namespace: undefined,
  knownPods: NO_KNOWN_PODS,
};

async function clusterOf(options: ReviewOptions, manifests: readonly Manifest[]): Promise<Cluster> {
  if (options.kubeconfig === undefined && options.context === undefined) return NO_CLUSTER;
  const { judged } = sortManifests(manifests);
  return readCluster(options, (contextNamespace) => {
    const fallback = options.namespace ?? contextNamespace ?? DEFAULT_NAMESPACE;
    return new Set(judged.map((manifest) => namespaceOf(manifest, fallback)));
  });
}
