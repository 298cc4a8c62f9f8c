import type { Readable } from 'node:stream';
import { NO_KNOWN_PODS } from '#shared/domain/admission/cluster-state.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { InputError, type ProcessIo } from '#cli/process-io.ts';
import { namespaceOf, type Manifest } from '#cli/manifests/manifest.ts';
import { parseManifests } from '#cli/manifests/parse-manifests.ts';
import { readFiles } from '#cli/manifests/read-files.ts';
import { formatAnswer } from '#cli/output/answer.ts';
import { isTable, type OutputFormat } from '#cli/output/output-option.ts';
import { reviewAnswer, warningLines } from './row.ts';
import { readCluster, type Cluster } from './read-cluster.ts';
import { requesterOf } from './requester.ts';
import { describeIgnored, review, type ReviewInput, sortManifests } from './review.ts';

export interface ReviewOptions extends ClusterOptions {
  readonly as?: string;
  readonly asGroup?: readonly string[];
  readonly namespace?: string;
  readonly output: OutputFormat;
}

/** Carries out `plimsoll review`: exit code 0 where nothing would be refused, 1 where something would be. */
export async function runReview(options: ReviewOptions, io: ProcessIo): Promise<void> {
  const { rows, ignored } = review(await readInput(options, io));
  const warnings = isTable(options.output) ? warningLines(rows) : [];
  for (const line of [...describeIgnored(ignored), ...warnings]) io.tell(line);
  io.print(await formatAnswer(reviewAnswer(rows), options.output));
  io.exit(rows.every(({ allowed }) => allowed) ? 0 : 1);
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
