import type { Readable } from 'node:stream';
import { NO_KNOWN_PODS, type KnownPods } from '#shared/domain/admission/cluster-state.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { InputError, type ProcessIo } from '#cli/process-io.ts';
import { namespaceOf, type Manifest, parseManifests } from '#cli/manifests/parse-manifests.ts';
import { readFiles } from '#cli/manifests/read-files.ts';
import { formatListing, type ListingOptions } from '#cli/output/listing.ts';
import { isTable } from '#cli/output/output-option.ts';
import type { Requester } from '#shared/domain/admission/request.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import { listAll } from '#cli/cluster/list-all.ts';
import { withCluster } from '#cli/cluster/open-cluster.ts';
import { listSomePods } from '#shared/kube/list/read-some.ts';
import { NOT_ABORTED } from '#shared/runtime/clock.ts';
import {
  describeIgnored,
  isFailure,
  review,
  reviewListing,
  type ReviewInput,
  sortManifests,
  warningLines,
} from './review.ts';
import { requesterOf, SURROUNDING_RESOURCES, expectKnownFields } from './cluster-state.ts';

export interface ReviewOptions extends ClusterOptions, ListingOptions {
  readonly namespace?: string;
  readonly failOnWarnings?: boolean;
}

/** Carries out `plimsoll review`: exit code 0 if nothing would be refused, 1 if something would be. */
export async function runReview(options: ReviewOptions, io: ProcessIo): Promise<void> {
  const { rows, ignored } = review(await readInput(options, io));
  const warnings = isTable(options.output) ? warningLines(rows) : [];
  for (const line of [...describeIgnored(ignored), ...warnings]) io.tell(line);
  io.print(await formatListing(reviewListing(rows), options));
  io.exit(rows.some((row) => isFailure(row, options.failOnWarnings === true)) ? 1 : 0);
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
  for (const manifest of manifests) expectKnownFields(manifest);
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

/** What a review reads from a cluster. */
export interface Cluster {
  readonly manifests: readonly Manifest[];
  /** Our user name and groups there. */
  readonly requester: Requester;
  /** The context's namespace. */
  readonly namespace: string | undefined;
  /** Pods of the namespaces asked for, as far as we may see them. */
  readonly knownPods: KnownPods;
}

const REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

/**
 * Reads it with the permissions of the kubeconfig, not of the user whose objects are reviewed. `namespacesOf` gives the
 * namespaces whose pods to read, given the context's namespace. Rejects with an InputError that says what could not be
 * read.
 */
async function readCluster(
  choice: ClusterOptions,
  namespacesOf: (contextNamespace: string | undefined) => ReadonlySet<string>,
): Promise<Cluster> {
  return withCluster(
    { ...choice, as: undefined, asGroup: undefined, asUid: undefined, asUserExtra: undefined },
    async ({ client, namespace }) => {
      const lists = await Promise.all(SURROUNDING_RESOURCES.map((resource) => listAll(client, resource)));
      const knownPods = await readKnownPods(client, namespacesOf(namespace));
      return { manifests: lists.flat(), requester: await whoAmI(client), namespace, knownPods };
    },
  );
}

/** If the API server does not identify the caller, the requester is unknown. */
async function whoAmI(client: KubeClient): Promise<Requester> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const answer = await client.request({ method: 'POST', path: REVIEWS, body });
  const user = answer.kind === 'ok' ? fieldOf(fieldOf(answer.object, 'status'), 'userInfo') : undefined;
  const [name, groups] = [fieldOf(user, 'username'), fieldOf(user, 'groups')];
  const names: readonly unknown[] = Array.isArray(groups) ? groups : [];
  return requesterOf(
    typeof name === 'string' ? name : '',
    names.filter((group) => typeof group === 'string'),
  );
}

const OPTIONS = { timeoutMs: 30_000, signal: NOT_ABORTED };

/**
 * Pods of some namespaces, for warnings and for the holders of a quota. Never rejects: not every user may list them.
 */
async function readKnownPods(client: KubeClient, namespaces: ReadonlySet<string>): Promise<KnownPods> {
  const lists = await Promise.all(Array.from(namespaces, (namespace) => listSomePods(client, namespace, OPTIONS)));
  return { pods: lists.flatMap(({ pods }) => pods), isPartial: lists.some(({ isPartial }) => isPartial) };
}
