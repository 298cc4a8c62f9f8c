import { requesterOf } from './requester.ts';
import type { KnownPods } from '#shared/domain/admission/known-pods.ts';
import type { Requester } from '#shared/domain/admission/request.ts';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { fieldOf } from '#shared/kube/decode/field-of.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';
import { listObjects } from '#shared/kube/client/objects.ts';
import { apiVersionOf, resourceLabel, type Resource } from '#shared/kube/resource.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { InputError } from '#cli/input-error.ts';
import type { Manifest } from './manifest.ts';
import { readKnownPods } from './read-known-pods.ts';
import { SURROUNDING_RESOURCES } from './cluster-state.ts';

/** What a review takes from a cluster. */
export interface Cluster {
  readonly manifests: readonly Manifest[];
  /** Who we are there. */
  readonly requester: Requester;
  /** The context's namespace. */
  readonly namespace: string | undefined;
  /** Pods of the namespaces asked for, as far as we may see them. */
  readonly knownPods: KnownPods;
}

const PAGE = 500;
const TIMEOUT_MS = 20_000;
const REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

export interface ClusterChoice {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/**
 * Reads it with the rights of the kubeconfig. `namespacesOf` says whose pods to look at, given the context's namespace.
 * Rejects with an InputError that says what could not be read.
 */
export async function readCluster(
  { kubeconfig, context }: ClusterChoice,
  namespacesOf: (contextNamespace: string | undefined) => ReadonlySet<string>,
): Promise<Cluster> {
  const connection = await kubeconfigConnection(kubeconfig, context).catch(asInputError);
  const client = createClient(connection, { userAgent: 'plimsoll', timeoutMs: TIMEOUT_MS });
  try {
    const lists = await Promise.all(SURROUNDING_RESOURCES.map((resource) => listAll(client, resource)));
    const { namespace } = connection;
    const knownPods = await readKnownPods(client, namespacesOf(namespace));
    return { manifests: lists.flat(), requester: await whoAmI(client), namespace, knownPods };
  } finally {
    client.close();
  }
}

async function listAll(client: KubeClient, resource: Resource): Promise<readonly Manifest[]> {
  const found: KubeObject[] = [];
  let continueToken: string | undefined;
  do {
    const page = await listObjects(client, { resource }, { limit: PAGE, ...(continueToken && { continueToken }) });
    // Where Plimsoll is not installed there are no objects of its kinds.
    if (page.kind === 'notFound') return [];
    if (page.kind !== 'ok') throw new InputError(`cluster: cannot list ${resourceLabel(resource)}: ${page.message}`);
    found.push(...page.object.items);
    ({ continueToken } = page.object);
  } while (continueToken !== undefined);
  const { kind } = resource;
  return found.map((raw) => ({ apiVersion: apiVersionOf(resource), kind, raw, where: 'cluster' }));
}

/** An API server that does not answer who asks leaves the requester unknown. */
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

function asInputError(error: unknown): never {
  throw new InputError(errorText(error), { cause: error });
}
