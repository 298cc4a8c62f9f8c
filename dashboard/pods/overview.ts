import type { KubeClient } from '#shared/kube/client/client.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import { parseItem } from '#shared/kube/list/list-scanner.ts';
import { readSome, type SomeOptions } from '#shared/kube/list/read-some.ts';
import { NAMESPACES, PODS, type Resource } from '#shared/kube/resource.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { type PodView, podView } from '#dashboard/views/pod.ts';

/** A pod that is not on a node yet. */
export type PendingPodView = Pick<PodView, 'pod' | 'createdAt' | 'priority' | 'code' | 'why' | 'queue' | 'requests'>;

/** The namespaces of the cluster, and the pods that wait in them. */
export interface Overview {
  readonly namespaces: readonly string[];
  readonly pending: readonly PendingPodView[];
  /** What could not be read, or not to its end. */
  readonly notes: readonly string[];
}

const KEPT_MS = 5_000;
const TIMEOUT_MS = 5_000;
/** Pods that are shown; in a large cluster more may wait. */
const MAX_PENDING = 2_000;
const MAX_NAMESPACES = 5_000;
const MAX_BYTES = 32 * 1024 * 1024;

/** Reads at most once in five seconds for all viewers together, and only if one asks; never rejects. */
export function createOverview(client: KubeClient, clock: Clock): (signal: AbortSignal) => Promise<Overview> {
  let kept: { readonly at: number; readonly overview: Promise<Overview> } | undefined;
  return (signal) => {
    const now = clock.monotonic();
    if (kept === undefined || now - kept.at >= KEPT_MS) kept = { at: now, overview: readOverview(client, signal) };
    return kept.overview;
  };
}

async function readOverview(client: KubeClient, signal: AbortSignal): Promise<Overview> {
  const list = <T>(resource: Resource, most: number, pick: (raw: unknown) => T | undefined, query: Query = {}) =>
    listed(client, resource, { limit: most, mostBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, signal, ...query }, pick);
  const [namespaces, pending] = await Promise.all([
    list(NAMESPACES, MAX_NAMESPACES, (raw) => textAt(raw, 'name')),
    list(PODS, MAX_PENDING, pendingPod, { fieldSelector: 'status.phase=Pending' }),
  ]);
  return {
    namespaces: namespaces.items.toSorted(),
    pending: pending.items,
    notes: [namespaces.note, pending.note].filter((note) => note !== ''),
  };
}

type Query = Partial<Pick<SomeOptions, 'fieldSelector'>>;

async function listed<T>(
  client: KubeClient,
  resource: Resource,
  options: SomeOptions,
  pick: (raw: unknown) => T | undefined,
): Promise<{ readonly items: readonly T[]; readonly note: string }> {
  const page = await readSome(client, { resource }, options, (json) => pick(parseItem(json)));
  if (page.kind !== 'page') return { items: [], note: `cannot list ${resource.plural}: ${page.message}` };
  const isPart = page.isCut || page.continueToken !== undefined;
  return { items: page.items, note: isPart ? `there are more ${resource.plural} than are shown` : '' };
}

/** A pod on a node whose containers start is not waiting. */
function pendingPod(raw: unknown): PendingPodView | undefined {
  const alone = { node: undefined, figuresOf: () => undefined, notes: [] };
  const evidence = { name: textAt(raw, 'name'), raw, events: [], removals: [] };
  const view = podView({ namespace: textAt(raw, 'namespace'), evidence, ...alone }, () => true);
  if (view.state !== 'Waits') return undefined;
  const { pod, createdAt, priority, code, why, queue, requests } = view;
  return { pod, createdAt, priority, code, why, queue, requests };
}

function textAt(raw: unknown, field: string): string {
  const value = fieldOf(fieldOf(raw, 'metadata'), field);
  return typeof value === 'string' ? value : '';
}
