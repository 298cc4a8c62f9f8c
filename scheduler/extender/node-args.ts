import type { FilteredNodes } from '#shared/domain/avoidance/avoid-nodes.ts';
import type { OwnerKey } from '#shared/domain/pod/pod-owner.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import {
  type Decoded,
  decodeObject,
  readBoolean,
  readClippedText,
  readList,
  readObject,
  readIdentity,
  readPart,
  readTexts,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { parseFields, readRequestBody, SIZED_POD } from './request-body.ts';

/** What kube-scheduler asks about nodes: only their names if the extender keeps its own copy (`nodeCacheCapable`). */
export interface NodeArgs {
  /** The pod's controller. */
  readonly owner: OwnerKey | undefined;
  /** The raw pod, or the needed parts of a very large one. Few calls read more of it than its owner. */
  readonly pod: unknown;
  /** Reading the pod already took much work. */
  readonly isPodLarge: boolean;
  /** Some of the needed parts were not read. */
  readonly isPodCutShort: boolean;
  readonly nodes: readonly string[];
  /** The raw nodes, in the same order; `undefined` if only names were sent. */
  readonly items: readonly WireObject[] | undefined;
}

/** Reads `ExtenderArgs` in steps. `k8s.io/kube-scheduler/extender/v1` types.go. */
export function* readNodeArgs(bytes: Buffer): Steps<Decoded<NodeArgs>> {
  const body = yield* readRequestBody(bytes, SIZED_POD);
  if (!body.ok) return body;
  yield;
  const raw = parseFields(body.value);
  const { isPodLarge, isPodCutShort } = body.value;
  return raw.ok ? decodeObject(raw.value, (args) => ({ ...readArgs(args), isPodLarge, isPodCutShort })) : raw;
}

function readArgs(args: WireObject): Omit<NodeArgs, 'isPodLarge' | 'isPodCutShort'> {
  const items = readObject(args, 'Nodes', (list) => readList(list, 'items', (item) => item));
  return {
    owner: readObject(args, 'Pod', (pod) => readObject(pod, 'metadata', readOwner)),
    pod: args['Pod'],
    nodes: items === undefined ? readTexts(args, 'NodeNames') : readNames(args),
    items,
  };
}

function readNames(args: WireObject): readonly string[] {
  const nameOf = (node: WireObject) => readPart(node, 'metadata', readIdentity).name;
  return readObject(args, 'Nodes', (list) => readList(list, 'items', nameOf)) ?? [];
}

function readOwner(metadata: WireObject): OwnerKey | undefined {
  const namespace = readClippedText(metadata, 'namespace') ?? '';
  const controllers = readList(metadata, 'ownerReferences', (owner) => {
    if (!readBoolean(owner, 'controller')) return undefined;
    const kind = readClippedText(owner, 'kind') ?? '';
    return { namespace, kind, name: readClippedText(owner, 'name') ?? '', uid: readClippedText(owner, 'uid') };
  });
  return controllers.find((controller) => controller !== undefined);
}

/**
 * `ExtenderFilterResult`. Preemption cannot make a forbidden node fit, so kube-scheduler does not try it there. A
 * reason has the same text on all nodes, because kube-scheduler groups nodes by it in the pod's condition.
 */
export function encodeFilterResult({ items, nodes }: NodeArgs, { left, leftOut }: FilteredNodes): object {
  const kept = items?.filter((_, index) => !leftOut.has(nodes[index] ?? ''));
  return {
    Nodes: kept === undefined ? null : { items: kept },
    NodeNames: kept === undefined ? left : null,
    FailedNodes: reasonsOf(leftOut, false),
    FailedAndUnresolvableNodes: reasonsOf(leftOut, true),
    Error: '',
  };
}

function reasonsOf(leftOut: FilteredNodes['leftOut'], areForbidden: boolean): Readonly<Record<string, string>> {
  const chosen = Array.from(leftOut).filter(([, { isForbidden }]) => isForbidden === areForbidden);
  return Object.fromEntries(chosen.map(([node, { because }]) => [node, `Plimsoll: ${because.text}`]));
}

/** `HostPriorityList`, one score for each node that was asked about. */
export function encodeScores(nodes: readonly string[], scoreOf: (node: string) => number): object {
  return nodes.map((Host) => ({ Host, Score: scoreOf(Host) }));
}
