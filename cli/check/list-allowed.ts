import type { KubeClient } from '#shared/kube/client/client.ts';
import { type Resource, resourceLabel } from '#shared/kube/resource.ts';
import { listAll, ListForbidden } from '#cli/cluster/list-all.ts';
import type { Manifest } from '#cli/manifests/manifest.ts';
import type { Finding } from './finding.ts';
import { kindUnread } from './messages.ts';

/** What could be listed of a cluster. */
export interface AllowedLists {
  readonly manifests: readonly Manifest[];
  /** Kinds that the caller may not list. */
  readonly unread: ReadonlySet<string>;
  readonly findings: readonly Finding[];
}

/** Lists these kinds; a kind that the caller may not list becomes a finding. Rejects with an InputError for other failures. */
export async function listAllowed(client: KubeClient, resources: readonly Resource[]): Promise<AllowedLists> {
  const lists = await Promise.all(resources.map((resource) => listOrRefusal(client, resource)));
  const refused = lists.filter((list) => 'refusal' in list);
  return {
    manifests: lists.flatMap((list) => ('refusal' in list ? [] : list.manifests)),
    unread: new Set(refused.map(({ resource }) => resource.kind)),
    findings: refused.map(({ resource, refusal }) => kindUnread(resourceLabel(resource), refusal)),
  };
}

type Listed = { readonly manifests: readonly Manifest[] } | { readonly resource: Resource; readonly refusal: string };

async function listOrRefusal(client: KubeClient, resource: Resource): Promise<Listed> {
  try {
    return { manifests: await listAll(client, resource) };
  } catch (error) {
    if (error instanceof ListForbidden) return { resource, refusal: error.reason };
    throw error;
  }
}
