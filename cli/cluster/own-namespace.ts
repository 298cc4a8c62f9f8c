import { decodePodEvents, type PodEvent } from '#shared/decide/pods/pod-events.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Disruption } from '#shared/domain/disruption/disruption.ts';
import { DISRUPTIONS, EVENTS, PDBS, PODS, resourceLabel } from '#shared/kube/resource.ts';
import { type Manifest, ofKind } from '#cli/manifests/parse-manifests.ts';
import { InputError } from '#cli/process-io.ts';
import type { ClusterOptions } from './cluster-options.ts';
import { decodeDisruptions } from './read-disruptions.ts';

/** What a person sees who has a role in one namespace alone. */
export interface NamespaceObjects {
  readonly namespace: string;
  readonly pods: readonly Manifest[];
  readonly events: readonly PodEvent[];
  /** The newest first. */
  readonly removals: readonly Disruption[];
  readonly budgets: readonly Manifest[];
  /** Kinds that may not be listed in the namespace either. */
  readonly refused: readonly string[];
}

/** `wide` with rights for the whole cluster, else `narrow` with what the caller may read in one namespace. */
export async function orInOwnNamespace<T>(
  wide: () => Promise<T>,
  narrow: (refusal: InputError) => Promise<T>,
): Promise<T> {
  const { ListForbidden } = await import('./list-all.ts');
  return wide().catch((error: unknown) => {
    if (error instanceof ListForbidden) return narrow(error);
    throw error;
  });
}

const READ = [PODS, EVENTS, DISRUPTIONS, PDBS];

/** Reads a namespace, by default that of the context. Rejects with an InputError if its pods may not be listed. */
export async function readOwnNamespace(
  options: ClusterOptions,
  now: Instant,
  wanted?: string,
): Promise<NamespaceObjects> {
  const [{ withCluster }, { listPermitted }] = await Promise.all([
    import('./open-cluster.ts'),
    import('./list-all.ts'),
  ]);
  return withCluster(options, async ({ client, namespace: ofContext = 'default' }) => {
    const namespace = wanted ?? ofContext;
    const { manifests, refused } = await listPermitted(
      client,
      READ.map((resource) => ({ resource, namespace })),
    );
    const noPods = refused.find(({ resource }) => resource === PODS);
    if (noPods !== undefined)
      throw new InputError(
        `cannot list pods in namespace ${namespace}: ${noPods.refusal}; ask your platform team for the role view there`,
      );
    return {
      namespace,
      pods: ofKind(manifests, PODS),
      events: decodePodEvents(
        ofKind(manifests, EVENTS).map(({ raw }) => raw),
        now,
      ),
      removals: decodeDisruptions(ofKind(manifests, DISRUPTIONS)),
      budgets: ofKind(manifests, PDBS),
      refused: refused.map(({ resource }) => resourceLabel(resource)),
    };
  });
}

/** The roles that show the rest. */
const ROLES =
  'the ClusterRoles view and plimsoll-cluster-viewer, bound by a ClusterRoleBinding, show them; ask your platform team';

/** `what` is not shown for want of rights. */
export function notShown(what: string): string {
  return `not shown: ${what}; ${ROLES}`;
}
