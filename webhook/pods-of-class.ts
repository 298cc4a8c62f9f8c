import { NO_KNOWN_PODS, type KnownPods } from '#shared/domain/admission/known-pods.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import type { KubeClient } from '#shared/kube/client.ts';
import { decodePod } from '#shared/kube/decode-pod.ts';
import { fieldOf } from '#shared/kube/field-of.ts';
import { listObjects } from '#shared/kube/objects.ts';
import { PODS } from '#shared/kube/resource.ts';
import type { Clock } from '#shared/runtime/clock.ts';

const PAGE_SIZE = 500;
const MOST_PAGES = 4;
const DEADLINE_MS = 800;

/**
 * Finds pods that use a class, in all namespaces; there is no selector for that, so only the first pages are looked
 * through, and only for a moment. Never rejects: what was found until then is what is known.
 */
export async function findPodsOfClass(
  client: KubeClient,
  clock: Pick<Clock, 'monotonic'>,
  name: string,
): Promise<KnownPods> {
  const until = clock.monotonic() + DEADLINE_MS;
  const pods: Pod[] = [];
  let continueToken: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const timeoutMs = until - clock.monotonic();
    if (timeoutMs <= 0) break;
    const options = { limit: PAGE_SIZE, timeoutMs, ...(continueToken !== undefined && { continueToken }) };
    const listed = await listObjects(client, { resource: PODS }, options);
    if (listed.kind !== 'ok') return pods.length === 0 ? NO_KNOWN_PODS : { pods, isPartial: true };
    pods.push(...listed.object.items.flatMap((raw) => podOfClass(raw, name)));
    ({ continueToken } = listed.object);
    if (continueToken === undefined) return { pods, isPartial: false };
  }
  return { pods, isPartial: true };
}

/** Few are of the class: the others are not decoded. */
function podOfClass(raw: unknown, name: string): readonly Pod[] {
  if (fieldOf(fieldOf(raw, 'spec'), 'priorityClassName') !== name) return [];
  const decoded = decodePod(raw);
  return decoded.ok ? [decoded.value] : [];
}
