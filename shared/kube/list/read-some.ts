import type { KubeClient } from '#shared/kube/client/client.ts';
import type { CollectionAddress } from '#shared/kube/client/objects.ts';
import type { Failure } from '#shared/kube/client/outcome.ts';
import { PODS, resourcePath } from '#shared/kube/resource.ts';
import type { KnownPods } from '#shared/domain/admission/cluster-state.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { labelsAsRequirements, type LabelSelector, type Requirement } from '#shared/domain/labels/label-selector.ts';
import { parseItem, scanItems } from './list-scanner.ts';

export interface SomeOptions {
  readonly limit: number;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly continueToken?: string;
  /** `0` reads from the API server's cache; `limit` does not apply then. */
  readonly resourceVersion?: '0';
  /** Reading stops before the page exceeds this size. */
  readonly mostBytes: number;
  readonly timeoutMs: number;
  /** Also ends reading the response. */
  readonly signal: AbortSignal;
}

/** The part of a page that was read. */
interface SomePage<T> {
  readonly kind: 'page';
  readonly items: readonly T[];
  readonly continueToken: string | undefined;
  /** The page had more items: its size or the time was used up. */
  readonly isCut: boolean;
}

/**
 * Reads a page of a collection item by item, for callers that can do with a part. It holds one item at a time, and
 * `pick` decides from its JSON what to keep. Never rejects: items picked before an error count.
 */
export async function readSome<T>(
  client: KubeClient,
  { resource, namespace }: CollectionAddress,
  { mostBytes, timeoutMs, signal, continueToken, ...query }: SomeOptions,
  pick: (json: Buffer) => T | undefined,
): Promise<SomePage<T> | Failure> {
  const path = resourcePath(resource, { namespace });
  const opened = await client.stream({ path, query: { ...query, continue: continueToken }, timeoutMs, signal });
  if (opened.kind !== 'ok') return opened;
  const items: T[] = [];
  const keep = (json: Buffer): void => {
    const picked = pick(json);
    if (picked !== undefined) items.push(picked);
  };
  try {
    const metadata = await scanItems(firstBytes(opened.object, mostBytes), keep, mostBytes);
    const token = metadata['continue'];
    const hasMore = typeof token === 'string' && token !== '';
    return { kind: 'page', items, continueToken: hasMore ? token : undefined, isCut: false };
  } catch {
    opened.object.close();
    return { kind: 'page', items, continueToken: undefined, isCut: true };
  }
}

async function* firstBytes(bytes: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer> {
  let taken = 0;
  for await (const chunk of bytes) {
    taken += chunk.length;
    if (taken > most) throw new Error(`the page is longer than ${most} bytes`);
    yield chunk;
  }
}

/** Some pods, and the size of their JSON in bytes. */
export interface SomePods extends KnownPods {
  readonly bytes: number;
}

/** One page: a quota that counts thousands of pods is explained without reading all of them. */
const MAX_PODS = 250;
const MAX_BYTES = 4 * 1024 * 1024;
/** Almost every pod is far smaller. Larger ones are skipped, so that none crowds out the others. */
const LARGEST_POD_BYTES = 64 * 1024;
const NO_TEXTS: ReadonlyMap<string, string> = new Map();

/**
 * The first pods of a namespace, to make a message more precise. Never rejects: pods that cannot be read are left out,
 * and so are annotations.
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
  const all = { ...options, limit: MAX_PODS, mostBytes: MAX_BYTES };
  const page = await readSome(client, { resource: PODS, namespace }, all, pick);
  if (page.kind !== 'page') return { pods: [], isPartial: false, bytes: 0 };
  const isPartial = page.isCut || page.continueToken !== undefined || read.passedOver > 0;
  return { pods: page.items, isPartial, bytes: read.bytes };
}

/** Decodes a pod from JSON, without annotations; `undefined` if it is very large or cannot be decoded. */
export function readSmallPod(json: Buffer): Pod | undefined {
  if (json.length > LARGEST_POD_BYTES) return undefined;
  const decoded = decodePod(parseItem(json));
  return decoded.ok ? { ...decoded.value, annotations: NO_TEXTS } : undefined;
}

/** A label selector as the query parameter `labelSelector` of a list; empty if it selects everything. */
export function selectorText({ matchLabels, matchExpressions }: LabelSelector): string {
  return [...labelsAsRequirements(matchLabels), ...matchExpressions].map(requirementText).join(',');
}

function requirementText({ key, operator, values }: Requirement): string {
  switch (operator) {
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return `${key} ${operator.toLowerCase()} (${values.join(',')})`;
  }
}

const PAGE_SIZE = 500;
const PAGE_BYTES = 32 * 1024 * 1024;

/**
 * All pods of a namespace, as disruption limits count them. It holds one page at a time, and in it one whole pod.
 * Rejects if a pod cannot be decoded.
 */
export async function readNamespacePods(
  client: KubeClient,
  namespace: string,
  options: Pick<SomeOptions, 'timeoutMs' | 'signal'>,
): Promise<readonly Pod[]> {
  const pods: Pod[] = [];
  let token: string | undefined;
  do {
    const query = { ...options, limit: PAGE_SIZE, mostBytes: PAGE_BYTES };
    const paged = token === undefined ? query : { ...query, continueToken: token };
    const page = await readSome(client, { resource: PODS, namespace }, paged, (json) => slim(json));
    if (page.kind !== 'page') throw new Error(`cannot list pods: ${page.message}`);
    if (page.isCut) throw new Error('cannot list pods: not all could be read');
    pods.push(...page.items);
    token = page.continueToken;
  } while (token !== undefined);
  return pods;
}

/** Drops the fields that no limit uses: thousands of pods are held at once. */
function slim(json: Buffer): Pod {
  const decoded = decodePod(parseItem(json));
  if (!decoded.ok) throw new Error(`${decoded.field}: ${decoded.message}`);
  const { value: pod } = decoded;
  const spec = { ...pod.spec, containers: [], initContainers: [], volumes: [] };
  return { ...pod, annotations: NO_TEXTS, spec, status: { ...pod.status, containers: [], initContainers: [] } };
}
