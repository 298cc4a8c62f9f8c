import type { PodLoad, PodView } from '#shared/domain/quota/view/pod-view.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodeSeenPod, skimPod, skimPodMessage } from '#shared/kube/decode/decode-seen-pod.ts';
import { isKubeObject } from '#shared/kube/kube-object.ts';
import { parseItem, UnreadableListError } from '#shared/kube/list/list-scanner.ts';
import type { PageSize, WireFormat } from '#shared/kube/reflector/reflector-target.ts';
import { type Pages, readPages } from '#shared/kube/reflector/read-list.ts';
import { PODS } from '#shared/kube/resource.ts';
import { decodeMessage } from '#shared/kube/protobuf/decode-message.ts';
import { CHARGED_POD } from '#shared/kube/protobuf/kube-messages.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { nextTurn } from '#shared/runtime/turns/next-turn.ts';

export interface LoadOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly view: PodView;
  readonly pageSize: PageSize;
}

/** With more namespaces than this, one list of the whole cluster is cheaper than one list per namespace. */
const MOST_LISTS = 50;

/**
 * Lists one unlisted namespace of a view or, if there are many, the whole cluster for all of them. Reads from storage
 * instead of the server's cache: a list older than the watch would miss the changes in between.
 */
export async function loadUnlisted(
  { client, clock, view, pageSize }: LoadOptions,
  signal: AbortSignal,
): Promise<Pages> {
  const namespaces = view.unlisted;
  const [first] = namespaces;
  const isWhole = namespaces.length > MOST_LISTS;
  const load = view.load(isWhole ? namespaces : namespaces.slice(0, 1));
  const source = {
    client,
    clock,
    resource: PODS,
    message: CHARGED_POD,
    ...(!isWhole && first !== undefined && { namespace: first.name }),
  };
  const pages = await readPages(source, { pageSize, signal }, (item, format) => take({ view, load, format }, item));
  if (pages.kind === 'read') view.loaded(load);
  const sweep = view.sweep();
  while (sweep.next().done !== true) await nextTurn();
  return pages;
}

interface Taking {
  readonly view: PodView;
  readonly load: PodLoad;
  readonly format: WireFormat;
}

function take({ view, load, format }: Taking, item: Buffer): void {
  if (revisionElsewhere(view, item, format) !== undefined) return;
  const raw = format === 'json' ? parseItem(item) : decodeMessage(CHARGED_POD, item);
  if (!isKubeObject(raw)) throw new UnreadableListError('an item without metadata.name');
  view.putListed(load, decodeSeenPod(raw));
}

/** The resourceVersion of a pod whose first bytes show that the view does not need it. */
export function revisionElsewhere(view: PodView, pod: Buffer, format: WireFormat): string | undefined {
  const head = format === 'json' ? skimPod(pod) : skimPodMessage(pod);
  return head === undefined || view.namespaces.has(head.namespace) ? undefined : head.resourceVersion;
}
