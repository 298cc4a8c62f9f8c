import type { NodePressure } from '#shared/api/node-pressure.ts';
import type { NamedPolicy } from '#shared/api/node-pressure-policy/select-policy.ts';
import type { Quantity } from '#shared/domain/quantity/quantity.ts';
import { decodeBudget, decodeNamespace, decodeNode } from '#shared/kube/decode/decode-objects.ts';
import type { AnnotatedClass } from '#shared/domain/priority/classes-and-policies.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { type Decoded, decodeObject, readAmounts, readObject } from '#shared/kube/decode/wire-object.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { parseItem } from '#shared/kube/list/list-scanner.ts';
import { readSome } from '#shared/kube/list/read-some.ts';
import { type Clock, withDeadline } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { Reflector } from '#shared/kube/reflector/reflector.ts';
import { NAMESPACES, NODES, PDBS, PODS, type Resource } from '#shared/kube/resource.ts';
import type { SimulatedCluster } from '#shared/decide/simulation/placement.ts';

/** A node for a simulation, with its pods: the only node of its cluster. */
export interface SimulatedNode extends SimulatedCluster {
  /** `status.capacity.memory` of the node. */
  readonly memory: Quantity | undefined;
}

export type ReadNode =
  | { readonly kind: 'found'; readonly node: SimulatedNode }
  | { readonly kind: 'notFound' }
  /** Some objects could not be read; `message` says which. */
  | { readonly kind: 'unavailable'; readonly message: string };

/** What the watches already know. */
export interface KnownKinds {
  readonly pressures: KnownObjects<NodePressure>;
  readonly policies: KnownObjects<{ readonly named: NamedPolicy }>;
  readonly classes: KnownObjects<{ readonly read: AnnotatedClass }>;
}

type KnownObjects<T> = Pick<Reflector<T>, 'isSynced' | 'get' | 'values'>;

/** By default a kubelet runs 110 pods, and in large clusters up to 500. */
const MAX_OBJECTS = 600;
const MAX_BYTES = 32 * 1024 * 1024;
const TIMEOUT_MS = 5_000;

/**
 * Reads one node with its pods, their namespaces and budgets on request, and caches nothing. Lists are decoded object
 * by object as their bytes arrive, so that they do not delay other callers. Never rejects.
 */
export async function readNode(context: ReadContext, name: string, signal: AbortSignal): Promise<ReadNode> {
  const missing = Object.entries(context.known).flatMap(([kind, each]: [string, KnownObjects<unknown>]) =>
    each.isSynced() ? [] : [kind],
  );
  if (missing.length > 0) return unavailable(`${missing.join(', ')} have not been read yet`);
  try {
    return await withDeadline(
      (within) => readWithin({ ...context, signal: within }, name),
      TIMEOUT_MS,
      context.clock,
      signal,
    );
  } catch (error) {
    return unavailable(errorText(error));
  }
}

export interface ReadContext {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly known: KnownKinds;
}

interface NodeRead extends Omit<ReadContext, 'clock'> {
  readonly signal: AbortSignal;
}

async function readWithin(reading: NodeRead, name: string): Promise<ReadNode> {
  const { client, signal } = reading;
  const found = await getObject(client, { resource: NODES, name }, { timeoutMs: TIMEOUT_MS, signal });
  if (found.kind === 'notFound') return { kind: 'notFound' };
  if (found.kind !== 'ok') return unavailable(`cannot read node "${name}": ${found.message}`);
  return { kind: 'found', node: await nodeWithPods(reading, found.object) };
}

async function nodeWithPods(reading: NodeRead, raw: KubeObject): Promise<SimulatedNode> {
  const { known } = reading;
  const node = decodedOr(raw, decodeNode);
  const alive = `spec.nodeName=${node.name},status.phase!=Succeeded,status.phase!=Failed`;
  const pods = await readAll(reading, { resource: PODS, fieldSelector: alive }, decodePod, () => true);
  const inUse = new Set(pods.map(({ namespace }) => namespace));
  const [namespaces, budgets] = await Promise.all([
    readAll(reading, { resource: NAMESPACES }, decodeNamespace, (each) => inUse.has(each.name)),
    readAll(reading, { resource: PDBS }, decodeBudget, (each) => inUse.has(each.namespace)),
  ]);
  const pressure = known.pressures.get(node.name);
  return {
    nodes: [node],
    pods,
    namespaces,
    budgets,
    classes: new Map(Array.from(known.classes.values(), ({ read }) => [read.name, read])),
    policies: Array.from(known.policies.values(), ({ named }) => named),
    pressures: pressure === undefined ? [] : [pressure],
    memory: decodedOr(raw, decodeMemory),
  };
}

/** Objects of a kind that match a field selector, or all. */
interface Selected {
  readonly resource: Resource;
  readonly fieldSelector?: string;
}

/** Throws if anything cannot be read: a simulation of a part would be wrong. */
async function readAll<T>(
  { client, signal }: NodeRead,
  { resource, ...selector }: Selected,
  decode: (raw: unknown) => Decoded<T>,
  isWanted: (value: T) => boolean,
): Promise<readonly T[]> {
  let count = 0;
  const pick = (json: Buffer): T | undefined => {
    const value = decodedOr(parseItem(json), decode);
    if (!isWanted(value)) return undefined;
    count += 1;
    if (count > MAX_OBJECTS) throw new Error(`more than ${MAX_OBJECTS}`);
    return value;
  };
  const bounds = { limit: MAX_OBJECTS, mostBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, signal };
  const page = await readSome(client, { resource }, { ...bounds, ...selector, resourceVersion: '0' }, pick);
  if (page.kind !== 'page') throw new Error(`cannot list ${resource.plural}: ${page.message}`);
  if (page.isCut || page.continueToken !== undefined)
    throw new Error(`cannot list ${resource.plural}: one cannot be read, or there are too many`);
  return page.items;
}

function decodedOr<T>(raw: unknown, decode: (raw: unknown) => Decoded<T>): T {
  const decoded = decode(raw);
  if (decoded.ok) return decoded.value;
  throw new Error(`${decoded.field}: ${decoded.message}`);
}

function decodeMemory(raw: unknown): Decoded<Quantity | undefined> {
  return decodeObject(raw, (node) =>
    readObject(node, 'status', (status) => readAmounts(status, 'capacity'))?.get('memory'),
  );
}

function unavailable(message: string): ReadNode {
  return { kind: 'unavailable', message };
}
