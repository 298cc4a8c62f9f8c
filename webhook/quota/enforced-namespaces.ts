import type { PodView } from '#shared/domain/quota/view/pod-view.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { fieldOf, readRevision } from '#shared/kube/kube-object.ts';
import { parseItem } from '#shared/kube/list/list-scanner.ts';
import { createPageSize } from '#shared/kube/reflector/reflector-target.ts';
import { readPages } from '#shared/kube/reflector/read-list.ts';
import type { Reflector } from '#shared/kube/reflector/reflector.ts';
import { NAMESPACES } from '#shared/kube/resource.ts';
import { LABEL_PRIORITY_QUOTA, PRIORITY_QUOTA_ENFORCED } from '#shared/kube/api-names.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { CachedNamespace } from '#webhook/cluster-state/caches.ts';
import { ERRORS } from '#webhook/messages.ts';

const PAGE_SIZE = 500;

/** Keeps the view's namespaces equal to those in which quotas are enforced, following the cache. */
export function followNamespaces(namespaces: Reflector<CachedNamespace>, view: PodView, changed: () => void): void {
  const take = (namespace: CachedNamespace): void => {
    if (namespace.labels.get(LABEL_PRIORITY_QUOTA) === PRIORITY_QUOTA_ENFORCED) view.addNamespace(namespace);
    else view.removeNamespace(namespace.name);
  };
  for (const namespace of namespaces.values()) take(namespace);
  namespaces.onChange(({ kind, value }) => {
    if (kind === 'deleted') view.removeNamespace(value.name);
    else take(value);
    changed();
  });
}

/** Whether a view has every namespace in which quotas are enforced, as stored now. Rejects when they cannot be read. */
export async function areNamespacesKnown(
  { client, clock, view }: { readonly client: KubeClient; readonly clock: Clock; readonly view: PodView },
  signal: AbortSignal,
): Promise<boolean> {
  const labelSelector = `${LABEL_PRIORITY_QUOTA}=${PRIORITY_QUOTA_ENFORCED}`;
  const source = { client, clock, resource: NAMESPACES, labelSelector };
  let areKnown = true;
  const pages = await readPages(source, { pageSize: createPageSize(PAGE_SIZE), signal }, (json) => {
    areKnown &&= isKnown(view, parseItem(json));
  });
  if (pages.kind === 'read') return areKnown;
  throw new Error(ERRORS.list('namespaces', pages.kind === 'refused' ? pages.failure.message : pages.kind));
}

function isKnown(view: PodView, raw: unknown): boolean {
  const metadata = fieldOf(raw, 'metadata');
  const known = view.namespaces.get(String(fieldOf(metadata, 'name')));
  const revision = readRevision(String(fieldOf(metadata, 'resourceVersion')));
  return known !== undefined && revision !== undefined && known.revision >= revision;
}
