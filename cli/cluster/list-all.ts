import type { KubeClient } from '#shared/kube/client/client.ts';
import { type CollectionAddress, listObjects } from '#shared/kube/client/objects.ts';
import type { Failure } from '#shared/kube/client/outcome.ts';
import { apiVersionOf, resourceLabel, type Resource } from '#shared/kube/resource.ts';
import { InputError } from '#cli/process-io.ts';
import type { Manifest } from '#cli/manifests/parse-manifests.ts';

const PAGE = 500;

type Raw = Manifest['raw'];

/** How to list a kind. */
export interface ListedParts {
  /** Drops unneeded fields while pages arrive. */
  readonly slim?: (raw: Raw) => Raw;
  /** Only objects with these labels, as kubectl takes it. */
  readonly labelSelector?: string;
  /** Only objects of this namespace, for which the right in that namespace is enough. */
  readonly namespace?: string | undefined;
}

/**
 * All objects of a kind; none if the API server does not know the kind. Rejects with an InputError that says what could
 * not be listed.
 */
export async function listAll(
  client: KubeClient,
  resource: Resource,
  { slim = (raw) => raw, labelSelector = '', namespace }: ListedParts = {},
): Promise<readonly Manifest[]> {
  const query = { limit: PAGE, ...(labelSelector && { labelSelector }) };
  const found: Raw[] = [];
  let continueToken: string | undefined;
  do {
    const page = await listObjects(
      client,
      { resource, namespace },
      { ...query, ...(continueToken && { continueToken }) },
    );
    // Where Plimsoll is not installed there are no objects of its kinds.
    if (page.kind === 'notFound') return [];
    if (page.kind !== 'ok') throw cannotList(resource, page);
    found.push(...page.object.items.map((item) => slim({ ...item })));
    ({ continueToken } = page.object);
  } while (continueToken !== undefined);
  const { kind } = resource;
  return found.map((raw) => ({ apiVersion: apiVersionOf(resource), kind, raw, where: 'cluster' }));
}

/** The caller may not list a kind. */
export class ListForbidden extends InputError {
  /** As the API server words it. */
  readonly reason: string;

  constructor(message: string, reason: string) {
    super(message);
    this.reason = reason;
  }
}

function cannotList(resource: Resource, { kind, message }: Failure): InputError {
  const text = `cluster: cannot list ${resourceLabel(resource)}: ${message}`;
  return kind === 'forbidden'
    ? new ListForbidden(`${text}; ask your platform team for the right to list them`, message)
    : new InputError(text);
}

/** The objects of some kinds, and the kinds that the caller may not list. */
export interface PermittedObjects {
  readonly manifests: readonly Manifest[];
  readonly refused: readonly RefusedList[];
}

export interface RefusedList {
  readonly resource: Resource;
  /** As the API server words it. */
  readonly refusal: string;
}

/** Lists what the caller may list of these collections. Rejects with an InputError for other failures. */
export async function listPermitted(
  client: KubeClient,
  collections: readonly CollectionAddress[],
): Promise<PermittedObjects> {
  const lists = await Promise.all(
    collections.map(({ resource, namespace }) =>
      listAll(client, resource, { namespace }).catch((error: unknown): RefusedList => {
        if (error instanceof ListForbidden) return { resource, refusal: error.reason };
        throw error;
      }),
    ),
  );
  return {
    manifests: lists.flatMap((list) => ('refusal' in list ? [] : list)),
    refused: lists.filter((list) => 'refusal' in list),
  };
}
