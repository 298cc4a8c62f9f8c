import type { KnownPods } from '#shared/domain/admission/cluster-state.ts';
import type { Requester } from '#shared/domain/admission/request.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { fieldOf } from '#shared/kube/kube-object.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { listAll } from '#cli/cluster/list-all.ts';
import { withCluster } from '#cli/cluster/open-cluster.ts';
import type { Manifest } from '#cli/manifests/manifest.ts';
import { listSomePods } from '#shared/kube/list/read-some.ts';
import { requesterOf } from './requester.ts';
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

const REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

/**
 * Reads it with the rights of the kubeconfig. `namespacesOf` says whose pods to look at, given the context's namespace.
 * Rejects with an InputError that says what could not be read.
 */
export async function readCluster(
  choice: ClusterOptions,
  namespacesOf: (contextNamespace: string | undefined) => ReadonlySet<string>,
): Promise<Cluster> {
  return withCluster(choice, async ({ client, namespace }) => {
    const lists = await Promise.all(SURROUNDING_RESOURCES.map((resource) => listAll(client, resource)));
    const knownPods = await readKnownPods(client, namespacesOf(namespace));
    return { manifests: lists.flat(), requester: await whoAmI(client), namespace, knownPods };
  });
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

const OPTIONS = { timeoutMs: 30_000, signal: new AbortController().signal };

/** Pods of some namespaces, for warnings and for who holds a quota. Never rejects: not every user may list them. */
async function readKnownPods(client: KubeClient, namespaces: ReadonlySet<string>): Promise<KnownPods> {
  const lists = await Promise.all(Array.from(namespaces, (namespace) => listSomePods(client, namespace, OPTIONS)));
  return { pods: lists.flatMap(({ pods }) => pods), isPartial: lists.some(({ isPartial }) => isPartial) };
}
