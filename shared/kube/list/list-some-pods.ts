import type { KnownPods } from '#shared/domain/admission/known-pods.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { parseItem } from './list-scanner.ts';
import { readSome, type SomeOptions } from './read-some.ts';
import { PODS } from '#shared/kube/resource.ts';

/** Some pods, and how many bytes of JSON they took. */
export interface SomePods extends KnownPods {
  readonly bytes: number;
}

/** One page: a quota that counts thousands of pods is explained without reading them all. */
const MOST_PODS = 250;
const MOST_BYTES = 4 * 1024 * 1024;
/** Nearly every pod is smaller by far; larger ones are passed over, so that none crowds out the others. */
const LARGEST_POD_BYTES = 64 * 1024;
const NO_TEXTS: ReadonlyMap<string, string> = new Map();

/**
 * The first pods of a namespace, where more would only make a sentence better. Never rejects: what cannot be read is not
 * known. Their annotations are left out.
 */
export async function listSomePods(
  client: KubeClient,
  namespace: string,
  options: Pick<SomeOptions, 'labelSelector' | 'timeoutMs' | 'signal'>,
): Promise<SomePods> {
  const read = { bytes: 0, passedOver: 0 };
  const pick = (json: Buffer): Pod | undefined => {
    const pod = readSmallPod(json);
    if (pod === undefined) read.passedOver += 1;
    else read.bytes += json.length;
    return pod;
  };
  const all = { ...options, limit: MOST_PODS, mostBytes: MOST_BYTES };
  const page = await readSome(client, { resource: PODS, namespace }, all, pick);
  if (page.kind !== 'page') return { pods: [], isPartial: false, bytes: 0 };
  const isPartial = page.isCut || page.continueToken !== undefined || read.passedOver > 0;
  return { pods: page.items, isPartial, bytes: read.bytes };
}

/** A pod from its JSON, without annotations; `undefined` for one that is very large or cannot be read. */
export function readSmallPod(json: Buffer): Pod | undefined {
  if (json.length > LARGEST_POD_BYTES) return undefined;
  const decoded = decodePod(parseItem(json));
  return decoded.ok ? { ...decoded.value, annotations: NO_TEXTS } : undefined;
}
