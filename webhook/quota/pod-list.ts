import type { PodLoad, PodView } from '#shared/domain/quota/view/pod-view.ts';
import type { KubeClient, ClientContext } from '#shared/kube/client/client.ts';
import { decodeSeenPod, peekPod, peekPodMessage } from '#shared/kube/decode/decode-seen-pod.ts';
import { isKubeObject, readRevision } from '#shared/kube/kube-object.ts';
import { parseItem, UnreadableListError } from '#shared/kube/list/list-scanner.ts';
import {
  type PageSize,
  type WireFormat,
  createPageSize,
  type Target,
} from '#shared/kube/reflector/reflector-target.ts';
import { type Pages, readPages } from '#shared/kube/reflector/read-list.ts';
import { PODS } from '#shared/kube/resource.ts';
import { decodeMessage } from '#shared/kube/protobuf/decode-message.ts';
import { CHARGED_POD } from '#shared/kube/protobuf/kube-messages.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { nextTurn } from '#shared/runtime/turns/turns.ts';
import { readWatch } from '#shared/kube/reflector/read-watch.ts';
import type { EndedReading } from '#shared/kube/reflector/reflector-plan.ts';
import { listObjects } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import { ERRORS } from '#webhook/messages.ts';

export interface LoadOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly view: PodView;
  readonly pageSize: PageSize;
}

/** With more namespaces than this, one list of the whole cluster is cheaper than one list per namespace. */
const MAX_LISTS = 50;

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
  const isWhole = namespaces.length > MAX_LISTS;
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
function revisionElsewhere(view: PodView, pod: Buffer, format: WireFormat): string | undefined {
  const head = format === 'json' ? peekPod(pod) : peekPodMessage(pod);
  return head === undefined || view.namespaces.has(head.namespace) ? undefined : head.resourceVersion;
}

export interface PodWatchOptions extends Pick<ClientContext, 'client' | 'clock' | 'random'> {
  readonly view: PodView;
  /** The server sent something; the view may have advanced. */
  readonly onActivity: () => void;
  /** How long a watch stays open; some minutes if `undefined`. */
  readonly watchSeconds: () => number | undefined;
}

/** Watches pods from the view's position on and applies their changes to it, until the watch ends for any reason. */
export function watchPods(options: PodWatchOptions, signal: AbortSignal): Promise<EndedReading> {
  const { client, clock, random, view, onActivity, watchSeconds } = options;
  const target: Target = {
    client,
    resource: PODS,
    clock,
    random,
    watchSeconds,
    onActivity,
    pageSize: createPageSize(1),
    message: CHARGED_POD,
    shouldSkip: (pod, format) => revisionElsewhere(view, pod, format),
    store: {
      set: (raw) => view.put(decodeSeenPod(raw)),
      remove: (raw) => view.remove(decodeSeenPod(raw)),
      replace: () => () => undefined,
    },
    onListed: () => undefined,
    onPosition: (resourceVersion) => view.reach(readRevision(resourceVersion) ?? 0),
  };
  return readWatch(target, String(view.position), signal);
}

/** Monotonic times in milliseconds. */
export interface EpochTimes {
  readonly now: number;
  readonly begunAt: number;
  /** How long its lists took; `undefined` during the first ones. */
  readonly listMs: number | undefined;
  /** When a proof was requested, if it is still awaited. */
  readonly awaitedSince: number | undefined;
}

/** A relist every 30 to 60 minutes repairs what a watch cannot show. */
const SHORTEST_INTERVAL_MS = 1_800_000;
const INTERVAL_SPREAD_MS = 1_800_000;
/** A proof arrives with the next event or bookmark if the server sends any, otherwise with a list. */
const SHORTEST_WAIT_MS = 10_000;
/** Lists take at most 1/300 of the time, or 1/50 while a proof is awaited. */
const INTERVALS_PER_LIST = 300;
const WAITS_PER_LIST = 50;

/** Whether everything should be listed again although the watch works; `spread` is in [0, 1). */
export function isRelistDue({ now, begunAt, listMs, awaitedSince }: EpochTimes, spread: number): boolean {
  if (listMs === undefined) return false;
  const intervalMs = SHORTEST_INTERVAL_MS + spread * INTERVAL_SPREAD_MS;
  if (now - begunAt >= Math.max(intervalMs, INTERVALS_PER_LIST * listMs)) return true;
  if (awaitedSince === undefined) return false;
  const waitedMs = now - Math.max(awaitedSince, begunAt);
  return waitedMs >= Math.max(SHORTEST_WAIT_MS, WAITS_PER_LIST * listMs);
}

/**
 * The current revision of the storage: no completed change of a pod has a later one. Rejects when it cannot be read.
 */
export async function latestRevision(client: KubeClient, signal: AbortSignal): Promise<number> {
  const page = await listObjects(client, { resource: PODS }, { limit: 1, signal });
  const { resourceVersion } = expectOk(page, 'list pods');
  const revision = readRevision(resourceVersion);
  if (revision !== undefined) return revision;
  throw new Error(ERRORS.followPods(resourceVersion));
}
