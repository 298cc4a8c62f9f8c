import type { Catalog } from '#sandbox/api-server/catalog/catalog.ts';
import type { ResourceType, Subresource } from '#sandbox/api-server/resource-type.ts';
import type { Resource } from '#shared/kube/resource.ts';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** The documents by which clients discover what the server serves. */
export interface Discovery {
  /** `/api` */
  readonly coreVersions: (address: string) => object;
  /** `/apis` */
  readonly groups: () => object;
  /** `/apis/GROUP`; undefined for an unknown one. */
  readonly group: (group: string) => object | undefined;
  /** `/api/v1`, `/apis/GROUP/VERSION`; undefined for an unknown one. */
  readonly resources: (group: string, version: string) => object | undefined;
  /** Everything in one answer: `apidiscovery.k8s.io/v2`. */
  readonly aggregated: (isCore: boolean) => object;
}

export function discovery(catalog: Catalog, reviews: readonly Resource[]): Discovery {
  const versionsOf = (group: string): string[] => [
    ...new Set([...catalog.all(), ...reviews].filter((type) => type.group === group).map(({ version }) => version)),
  ];
  const groupNames = (): string[] =>
    [...new Set([...catalog.all(), ...reviews].map(({ group }) => group))].filter((group) => group !== '').sort();
  const typesOf = (group: string, version: string): ResourceType[] =>
    catalog.all().filter((type) => type.group === group && type.version === version);
  const reviewsOf = (group: string, version: string): Resource[] =>
    reviews.filter((review) => review.group === group && review.version === version);

  return {
    coreVersions: (address) => ({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }],
    }),
    groups: () => ({
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: groupNames().map((name) => groupDocument(name, versionsOf(name))),
    }),
    group: (name) =>
      versionsOf(name).length === 0
        ? undefined
        : { kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(name, versionsOf(name)) },
    resources: (group, version) => {
      const resources = [
        ...typesOf(group, version).flatMap(resourceEntries),
        ...reviewsOf(group, version).map(reviewEntry),
      ];
      if (resources.length === 0) return undefined;
      return {
        kind: 'APIResourceList',
        apiVersion: 'v1',
        groupVersion: group === '' ? version : `${group}/${version}`,
        resources,
      };
    },
    aggregated: (isCore) => ({
      kind: 'APIGroupDiscoveryList',
      apiVersion: 'apidiscovery.k8s.io/v2',
      metadata: {},
      items: (isCore ? [''] : groupNames()).map((name) => ({
        metadata: name === '' ? {} : { name },
        versions: versionsOf(name).map((version) => ({
          version,
          resources: [
            ...typesOf(name, version).map(aggregatedEntry),
            ...reviewsOf(name, version).map(aggregatedReview),
          ],
          freshness: 'Current',
        })),
      })),
    }),
  };
}

function groupDocument(name: string, versions: readonly string[]): object {
  const list = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: list, preferredVersion: list[0] };
}

function resourceEntries(type: ResourceType): object[] {
  const { plural, singular, namespaced, kind, shortNames, categories, subresources } = type;
  const own = {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs: VERBS,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  };
  return [own, ...subresources.map((subresource) => subresourceEntry(type, subresource))];
}

function subresourceEntry(type: ResourceType, { name, kind, group, version, verbs }: Subresource): object {
  const isForeign = group !== type.group || version !== type.version;
  return {
    name: `${type.plural}/${name}`,
    singularName: '',
    namespaced: type.namespaced,
    ...(isForeign ? { group, version } : {}),
    kind,
    verbs,
  };
}

function reviewEntry({ plural, kind, namespaced }: Resource): object {
  return { name: plural, singularName: kind.toLowerCase(), namespaced, kind, verbs: ['create'] };
}

function aggregatedEntry(type: ResourceType): object {
  const { group, version, kind, plural, singular, namespaced, shortNames, categories, subresources } = type;
  return {
    resource: plural,
    responseKind: { group, version, kind },
    scope: scopeOf(namespaced),
    singularResource: singular,
    verbs: VERBS,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0 ? {} : { subresources: subresources.map(aggregatedSubresource) }),
  };
}

function aggregatedSubresource({ name, kind, group, version, verbs }: Subresource): object {
  return { subresource: name, responseKind: { group, version, kind }, verbs };
}

function aggregatedReview({ group, version, kind, plural, namespaced }: Resource): object {
  return {
    resource: plural,
    responseKind: { group, version, kind },
    scope: scopeOf(namespaced),
    singularResource: kind.toLowerCase(),
    verbs: ['create'],
  };
}

function scopeOf(namespaced: boolean): string {
  return namespaced ? 'Namespaced' : 'Cluster';
}
