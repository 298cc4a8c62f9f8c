import {
  avoidedNodes,
  type FilteredNodes,
  filterNodes,
  type PlacementQuestion,
} from '#shared/domain/nodes/avoid-nodes.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import {
  type IdleFor,
  nodesWithNominations,
  setAsideNodes,
} from '#shared/domain/placement/set-aside/set-aside-room.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { ANNOTATION_ADMITTED } from '#shared/kube/api-names.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { unreadable, type Verb, type DecideOr, type Undecided, type ViewState } from './extender-listener.ts';
import type { OwnerKey } from '#shared/domain/pod/pod.ts';
import {
  type Decoded,
  decodeObject,
  fieldOf,
  readBoolean,
  readClippedText,
  readList,
  readObject,
  readIdentity,
  readPart,
  readTexts,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import type { QueueKeeper } from './preemption-rules.ts';
import { parseFields, readRequestBody, SIZED_POD } from './request-body.ts';

interface NodeVerbOptions extends Pick<ViewState, 'isStale'> {
  readonly snapshot: ClusterSnapshot;
  readonly decideOr: DecideOr;
  readonly idleFor: IdleFor;
  readonly clock: Pick<Clock, 'now'>;
  readonly metrics: Metrics;
  readonly keeper?: Pick<QueueKeeper, 'whyNotPlaced'> | undefined;
}

/** The highest score that an extender may give (`MaxExtenderPriority`). */
const HIGHEST_SCORE = 10;
type SetAside = ReadonlyMap<string, Because>;
type Undecidedness = { readonly undecided: Undecided };

const NONE: SetAside = new Map();
const NOTHING: FilteredNodes['leftOut'] = new Map();
const NO_NODES: ReadonlySet<string> = new Set();

/**
 * The verb `filter`: removes nodes on which the pod should not be placed, and nodes on which it would take set-aside
 * room.
 */
export function filterVerb(options: NodeVerbOptions): Verb {
  const leftOutNodes = options.metrics.counter(
    'plimsoll_extender_forbidden_nodes_total',
    'Nodes that a pod was kept off, by reason',
    ['reason'],
  );
  return function* (asked) {
    const args = yield* readNodeArgs(asked.body);
    if (!args.ok) return unreadable(args);
    yield;
    const outcome = yield* options.decideOr('filter', asked, filter(options, args.value));
    const filtered = 'decided' in outcome ? outcome.decided : yield* undecidedFilter(options, args.value, outcome);
    for (const { because } of filtered.leftOut.values()) leftOutNodes.add({ reason: because.code });
    return { ok: true, json: JSON.stringify(encodeFilterResult(args.value, filtered)) };
  };
}

/**
 * The verb `prioritize`: the highest score for each node, and 0 for nodes on which the pod should not be placed. It
 * serves configurations without `filter`, which removes the same nodes.
 */
export function prioritizeVerb(options: NodeVerbOptions): Verb {
  return function* (asked) {
    const args = yield* readNodeArgs(asked.body);
    if (!args.ok) return unreadable(args);
    yield;
    const { nodes } = args.value;
    const outcome = yield* options.decideOr('prioritize', asked, openNodes(options, args.value));
    const open = 'decided' in outcome ? outcome.decided : yield* undecidedNodes(options, args.value, outcome);
    const scores = encodeScores(nodes, (node) => (open.has(node) ? HIGHEST_SCORE : 0));
    return { ok: true, json: JSON.stringify(scores) };
  };
}

function* openNodes(options: NodeVerbOptions, args: NodeArgs): Steps<ReadonlySet<string>> {
  const kept = yield* setAside(options, args);
  const avoided = yield* avoidedNodes(args.nodes, placementOf(options, args));
  return new Set(args.nodes.filter((node) => !kept.has(node) && !avoided.has(node)));
}

/**
 * Without a decision all nodes are kept, but a large pod gets no set-aside room merely because it takes much work to
 * decode.
 */
function* undecidedFilter(options: NodeVerbOptions, args: NodeArgs, why: Undecidedness): Steps<FilteredNodes> {
  return withoutKept(args, yield* keptUndecided(options, args, why), NOTHING);
}

function* undecidedNodes(options: NodeVerbOptions, args: NodeArgs, why: Undecidedness): Steps<ReadonlySet<string>> {
  const kept = yield* keptUndecided(options, args, why);
  return kept.size === 0 ? NO_NODES : new Set(args.nodes.filter((node) => !kept.has(node)));
}

function* keptUndecided(options: NodeVerbOptions, args: NodeArgs, { undecided }: Undecidedness): Steps<SetAside> {
  if (!args.isPodLarge || undecided === 'Unsynced') return NONE;
  return yield* setAside(options, { ...args, isPodCutShort: true });
}

/** Set-aside room is respected even if no node remains: the pod waits, or preempts others itself. */
function* filter(options: NodeVerbOptions, args: NodeArgs): Steps<FilteredNodes> {
  const shareGone = whyNotPlaced(options, args);
  if (shareGone !== undefined) return withoutKept(args, new Map(args.nodes.map((node) => [node, shareGone])), NOTHING);
  const kept = yield* setAside(options, args);
  const open = kept.size === 0 ? args.nodes : args.nodes.filter((node) => !kept.has(node));
  const { left, leftOut } = filterNodes(open, yield* avoidedNodes(open, placementOf(options, args)));
  return withoutKept({ nodes: left }, kept, leftOut);
}

/** Only a pod that carries the mark of the queues is read as a whole. */
function whyNotPlaced({ keeper }: NodeVerbOptions, { pod, isPodCutShort }: NodeArgs): Because | undefined {
  const mark = fieldOf(fieldOf(fieldOf(pod, 'metadata'), 'annotations'), ANNOTATION_ADMITTED);
  if (keeper === undefined || mark === undefined || isPodCutShort) return undefined;
  const decoded = decodePod(pod);
  return decoded.ok ? keeper.whyNotPlaced(decoded.value) : undefined;
}

function withoutKept(
  { nodes }: Pick<NodeArgs, 'nodes'>,
  kept: SetAside,
  leftOut: FilteredNodes['leftOut'],
): FilteredNodes {
  if (kept.size === 0) return { left: nodes, leftOut };
  const forbidden = Array.from(kept, ([node, because]) => [node, { isForbidden: true, because }] as const);
  return { left: nodes.filter((node) => !kept.has(node)), leftOut: new Map([...leftOut, ...forbidden]) };
}

/** Nodes with room only for other pods. None if the view of the pods is stale, or if the pod cannot be decoded. */
function* setAside({ snapshot, isStale, idleFor, clock }: NodeVerbOptions, args: NodeArgs): Steps<SetAside> {
  const { pod, nodes, isPodCutShort } = args;
  const candidates = nodesWithNominations(snapshot, nodes);
  if (candidates.length === 0 || isStale()) return NONE;
  const decoded = decodePod(pod);
  yield;
  if (!decoded.ok) return NONE;
  return yield* setAsideNodes(snapshot, candidates, {
    pod: decoded.value,
    isOfUnknownSize: isPodCutShort,
    now: clock.now(),
    idleFor,
  });
}

function placementOf({ snapshot, clock }: NodeVerbOptions, { owner }: NodeArgs): PlacementQuestion {
  return { owner, pressures: snapshot.pressures, now: clock.now() };
}

/** What kube-scheduler asks about nodes: only their names if the extender keeps its own copy (`nodeCacheCapable`). */
interface NodeArgs {
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
function* readNodeArgs(bytes: Buffer): Steps<Decoded<NodeArgs>> {
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
function encodeFilterResult({ items, nodes }: NodeArgs, { left, leftOut }: FilteredNodes): object {
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
function encodeScores(nodes: readonly string[], scoreOf: (node: string) => number): object {
  return nodes.map((Host) => ({ Host, Score: scoreOf(Host) }));
}
