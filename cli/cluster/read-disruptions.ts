import { decodeDisruption, encodeDisruption, encodeOutcome } from '#shared/api/disruption.ts';
import type { Disruption } from '#shared/domain/disruption/disruption.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { listObjects } from '#shared/kube/client/objects.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import {
  apiVersionOf,
  DISRUPTIONS,
  DISRUPTION_ACCOUNTS,
  DISRUPTION_LIMITS,
  DISRUPTION_POLICIES,
  type Resource,
} from '#shared/kube/resource.ts';
import { type Manifest, typeOf, nameOf, namespaceOf, ofKind } from '#cli/manifests/parse-manifests.ts';
import type { Metadata } from '#cli/output/answer.ts';
import type { ProcessIo } from '#cli/process-io.ts';
import { withNamespace, decodeManifest } from './cluster-model.ts';
import type { ClusterOptions } from './cluster-options.ts';
import { type ClusterManifests, readManifests } from './read-manifests.ts';
import { decodeAccount } from '#shared/api/disruption-account.ts';
import { decodeDisruptionLimit } from '#shared/api/disruption-limit.ts';
import { decodeDisruptionPolicy } from '#shared/api/disruption-policy.ts';
import type { CountedLimits } from '#shared/domain/rescheduling/limit-room.ts';
import { DISRUPTION_ACCOUNT } from '#shared/kube/api-names.ts';

/** Which Disruptions are read, and from where. */
export interface DisruptionSource extends ClusterOptions {
  /** Default: the namespace of the context. */
  readonly namespace?: string | undefined;
  readonly allNamespaces?: boolean;
}

export interface ReadDisruptions {
  /** The newest first. */
  readonly disruptions: readonly Disruption[];
  readonly now: Instant;
  /** `undefined` for all namespaces. */
  readonly namespace: string | undefined;
  /** Whether the API server knows the kind; always true for files. */
  readonly isServed: boolean;
}

/**
 * Reads the Disruptions of one namespace or of all. For a cluster it needs only permission to list them there. Rejects
 * with an InputError if they cannot be read.
 */
export async function readDisruptions(
  source: DisruptionSource,
  io: Pick<ProcessIo, 'standardInput' | 'now'>,
): Promise<ReadDisruptions> {
  if (source.filename === undefined) return readLive(source, io.now());
  return disruptionsIn(source, await readManifests(source, [DISRUPTIONS], io));
}

/** The Disruptions among objects read from files. */
export function disruptionsIn(source: DisruptionSource, read: ClusterManifests): ReadDisruptions {
  const namespace = source.allNamespaces === true ? undefined : (source.namespace ?? read.namespace);
  const own = read.manifests.filter((each) => typeOf(each) === TYPE);
  const disruptions = decodeDisruptions(own.map((each) => withNamespace(each, read.namespace))).filter(
    (each) => namespace === undefined || each.namespace === namespace,
  );
  return { disruptions, now: read.now, namespace, isServed: true };
}

const TYPE = typeOf({ apiVersion: apiVersionOf(DISRUPTIONS), kind: DISRUPTIONS.kind });

/** The client is loaded only if a cluster is used. */
async function readLive(source: DisruptionSource, now: Instant): Promise<ReadDisruptions> {
  const [{ withCluster }, { listAll }] = await Promise.all([import('./open-cluster.ts'), import('./list-all.ts')]);
  return withCluster(source, async ({ client, namespace: ofContext = 'default' }) => {
    const namespace = source.allNamespaces === true ? undefined : (source.namespace ?? ofContext);
    const disruptions = decodeDisruptions(await listAll(client, DISRUPTIONS, { namespace }));
    const isServed = disruptions.length > 0 || (await isKindServed(client, namespace));
    return { disruptions, now, namespace, isServed };
  });
}

async function isKindServed(client: KubeClient, namespace: string | undefined): Promise<boolean> {
  const { kind } = await listObjects(client, { resource: DISRUPTIONS, namespace }, { limit: 1 });
  return kind !== 'notFound';
}

/** Those that can be read, the newest first; at equal times by name, so that the order is always the same. */
export function decodeDisruptions(manifests: readonly Manifest[]): readonly Disruption[] {
  return manifests
    .map(({ raw }) => decodeDisruption(raw))
    .filter((each) => each !== undefined)
    .toSorted((a, b) => b.spec.removedAt - a.spec.removedAt || compareTexts(a.name, b.name));
}

/** A Disruption for programs, with the fields of the object. */
export interface DisruptionFields {
  readonly metadata: Metadata;
  readonly spec: unknown;
  readonly status: unknown;
}

export function disruptionFields(disruption: Disruption): DisruptionFields {
  const { namespace, name } = disruption;
  const spec = fieldOf(encodeDisruption(disruption, {}), 'spec');
  return { metadata: { namespace, name }, spec, status: encodeOutcome(disruption) };
}

/** The kinds that limit how many pods the rescheduler may move. */
export const LIMIT_RESOURCES: readonly Resource[] = [DISRUPTION_LIMITS, DISRUPTION_POLICIES, DISRUPTION_ACCOUNTS];

/** The limits of a cluster, and why they are not all known. */
export interface ReadLimits extends CountedLimits {
  readonly problem: string | undefined;
}

/**
 * Reads the limits in addition to a cluster; without permission to list them, the caller still gets all other answers.
 */
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
