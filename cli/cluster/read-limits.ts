import { decodeAccount } from '#shared/api/disruption-account.ts';
import { decodeDisruptionLimit } from '#shared/api/disruption-limit.ts';
import { decodeDisruptionPolicy } from '#shared/api/disruption-policy.ts';
import type { CountedLimits } from '#shared/domain/rescheduling/limit-room.ts';
import { DISRUPTION_ACCOUNT } from '#shared/kube/api-names.ts';
import { DISRUPTION_ACCOUNTS, DISRUPTION_LIMITS, DISRUPTION_POLICIES, type Resource } from '#shared/kube/resource.ts';
import { type Manifest, nameOf, namespaceOf, ofKind } from '#cli/manifests/parse-manifests.ts';
import type { ProcessIo } from '#cli/process-io.ts';
import { decodeManifest, withNamespace } from './cluster-model.ts';
import type { ClusterOptions } from './cluster-options.ts';
import { type ClusterManifests, readManifests } from './read-manifests.ts';

/** The kinds of which the rescheduler counts what may still be removed. */
export const LIMIT_RESOURCES: readonly Resource[] = [DISRUPTION_LIMITS, DISRUPTION_POLICIES, DISRUPTION_ACCOUNTS];

/** The limits of a cluster, and why they are not all known. */
export interface ReadLimits extends CountedLimits {
  readonly problem: string | undefined;
}

/** Reads the limits beside a cluster that has been read; without the right to list them the caller still gets all other answers. */
export async function limitsBeside(
  read: ClusterManifests,
  options: ClusterOptions,
  io: Pick<ProcessIo, 'standardInput' | 'now'>,
): Promise<ReadLimits> {
  if (options.filename !== undefined) {
    const unread = LIMIT_RESOURCES.map(({ kind }) => kind).filter((kind) => read.unread?.has(kind));
    return limitsAmong(read, unread.length === 0 ? undefined : `the snapshot is without ${unread.join(', ')}`);
  }
  const { ListForbidden } = await import('./list-all.ts');
  return readManifests(options, LIMIT_RESOURCES, io).then(
    ({ manifests }) => limitsAmong({ ...read, manifests }),
    (error: unknown) => {
      if (error instanceof ListForbidden) return limitsAmong({ ...read, manifests: [] }, error.message);
      throw error;
    },
  );
}

function limitsAmong({ manifests, namespace }: ClusterManifests, problem?: string): ReadLimits {
  const named = (resource: Resource): readonly Manifest[] =>
    ofKind(manifests, resource).map((each) => withNamespace(each, namespace));
  const accounts = named(DISRUPTION_ACCOUNTS).filter((each) => nameOf(each) === DISRUPTION_ACCOUNT);
  return {
    limits: named(DISRUPTION_LIMITS).map((each) => decodeManifest(each, decodeDisruptionLimit)),
    policies: ofKind(manifests, DISRUPTION_POLICIES).map((each) => decodeManifest(each, decodeDisruptionPolicy)),
    accounts: accounts.map((each) => ({
      namespace: namespaceOf(each, namespace),
      account: decodeManifest(each, decodeAccount),
    })),
    problem,
  };
}
