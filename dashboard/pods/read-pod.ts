import { decodeDisruption } from '#shared/api/disruption.ts';
import { namesPod } from '#shared/domain/disruption/disruption.ts';
import { decodePodEvents } from '#shared/decide/pods/pod-events.ts';
import type { PodEvidence } from '#shared/decide/pods/pod-situation.ts';
import type { ClientContext, KubeClient } from '#shared/kube/client/client.ts';
import { parseItem } from '#shared/kube/list/list-scanner.ts';
import { readSome } from '#shared/kube/list/read-some.ts';
import { DISRUPTIONS, EVENTS, PODS, type Resource } from '#shared/kube/resource.ts';

/** What the objects of its namespace say about a pod, or why that cannot be read. */
export type ReadPod =
  | { readonly kind: 'read'; readonly evidence: PodEvidence; readonly notes: readonly string[] }
  | { readonly kind: 'unavailable'; readonly message: string };

export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** Of one kind, in one namespace. */
const MAX_OBJECTS = 500;
const MAX_BYTES = 8 * 1024 * 1024;
const TIMEOUT_MS = 5_000;

/**
 * Reads a pod, its Events and the records of removed pods of its name on request, and keeps nothing; if there is no such
 * pod, also what its controller was refused. Never rejects.
 */
export async function readPod(
  { client, clock }: Pick<ClientContext, 'client' | 'clock'>,
  { namespace, name }: PodName,
  signal: AbortSignal,
): Promise<ReadPod> {
  const list = (resource: Resource, fieldSelector: string) =>
    listed(client, { resource, namespace, fieldSelector }, signal);
  const [pods, own, records] = await Promise.all([
    list(PODS, `metadata.name=${name}`),
    list(EVENTS, `regarding.kind=Pod,regarding.name=${name}`),
    list(DISRUPTIONS, ''),
  ]);
  if (pods.problem !== undefined) return { kind: 'unavailable', message: pods.problem };
  const [raw] = pods.items;
  const refusals = raw === undefined ? await list(EVENTS, 'reason=FailedCreate') : NOTHING;
  const removals = records.items.flatMap((each) => decodeDisruption(each) ?? []).filter((each) => namesPod(each, name));
  return {
    kind: 'read',
    evidence: {
      name,
      ...(raw !== undefined && { raw }),
      events: decodePodEvents([...own.items, ...refusals.items], clock.now()),
      removals: removals.sort((a, b) => b.spec.removedAt - a.spec.removedAt),
    },
    notes: [own, refusals, records].flatMap(({ problem }) => problem ?? []),
  };
}

interface Listed {
  readonly items: readonly unknown[];
  readonly problem: string | undefined;
}

const NOTHING: Listed = { items: [], problem: undefined };

interface Query extends Pick<PodName, 'namespace'> {
  readonly resource: Resource;
  readonly fieldSelector: string;
}

async function listed(
  client: KubeClient,
  { resource, namespace, fieldSelector }: Query,
  signal: AbortSignal,
): Promise<Listed> {
  const bounds = { limit: MAX_OBJECTS, mostBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, signal };
  const selector = fieldSelector === '' ? {} : { fieldSelector };
  const page = await readSome(client, { resource, namespace }, { ...bounds, ...selector }, parseItem);
  // Without the record of removed pods the API server does not know its kind.
  if (page.kind === 'notFound') return NOTHING;
  if (page.kind !== 'page') return { items: [], problem: `cannot list ${resource.plural}: ${page.message}` };
  const isPart = page.isCut || page.continueToken !== undefined;
  const problem = isPart ? `namespace ${namespace} has too many ${resource.plural}: not all were read` : undefined;
  return { items: page.items, problem };
}
