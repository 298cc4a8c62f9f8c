import {
  type ClusterSnapshot,
  emptySnapshot,
  type Namespace,
  type NodePressureFacts,
  type PodFigures,
} from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { DisruptionBudget } from '#shared/domain/snapshot/placed-pod.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import {
  putBudget,
  putNamespace,
  putNode,
  removeBudget,
  removeNamespace,
  removeNode,
} from '#shared/domain/snapshot/create-snapshot.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { decodeAnnotatedClass, decodeNamespace, decodeNode, decodeBudget } from '#shared/kube/decode/decode-objects.ts';
import type { AnnotatedClass } from '#shared/domain/priority/classes-and-policies.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import { SCHEDULED_POD } from '#shared/kube/protobuf/kube-messages.ts';
import { createReflector, decodeWith, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { createListWatch, type ListWatch } from '#shared/kube/reflector/list-watch.ts';
import type { SharedContext } from '#shared/kube/reflector/shared-streams.ts';
import { PROMPT_BACKOFF, REFLECTOR_BACKOFF } from '#shared/kube/reflector/reflector-plan.ts';
import {
  DAEMON_SETS,
  NAMESPACES,
  NODE_PRESSURES,
  NODES,
  PDBS,
  PODS,
  PRIORITY_CLASSES,
  type Resource,
} from '#shared/kube/resource.ts';
import {
  decodeNodePressure,
  type EvictionEntry,
  type NextEntry,
  type NodePressure,
  type NodePressureStatus,
  type PodEntry,
  worstSignal,
} from '#shared/api/node-pressure.ts';
import { REMOVING_OUTCOMES } from '#shared/domain/nodes/evicted-owners.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { parseQuantity, reportedNumber } from '#shared/domain/quantity/parse-quantity.ts';
import { compareQuantities, quantityMilliNumber } from '#shared/domain/quantity/quantity.ts';
import { selectorSize } from '#shared/domain/labels/label-selector.ts';
import type { RecordedLoops } from './preemptions/record-loops.ts';
import type { ReportedEviction } from '#shared/domain/disruption/removals.ts';
import { reportedEvictions } from './disruptions/watch-removals.ts';
import { createPodSink, type PodObservers } from './pod-sink.ts';

interface ReadingContext extends ClientContext {
  /** Absent if nothing is to be read. */
  readonly streams?: SharedContext['streams'] | undefined;
}

export interface ClusterViewOptions extends ReadingContext, PodObservers {
  /** Observes the loops that each NodePressure records. */
  readonly observeLoops: (recorded: RecordedLoops) => void;
  /** Observes the pods that each agent has just evicted. */
  readonly observeEvictions?: ((evictions: readonly ReportedEviction[]) => void) | undefined;
}

/** The cluster as preemption decisions see it, kept current by watches. */
export interface ClusterView {
  readonly snapshot: ClusterSnapshot;
  readonly classes: Reflector<AnnotatedClass>;
  readonly namespaces: Pick<Reflector<Namespace>, 'onChange'>;
  readonly pods: ListWatch;
  /** Kinds that have not been read yet; nothing is decided without them. */
  readonly missing: () => readonly string[];
  /** The loops that the NodePressures record; `undefined` before all have been read. */
  readonly recordedLoops: () => Iterable<RecordedLoops> | undefined;
  /** Whether the API server has been silent for too long about pods or nodes. */
  readonly isStale: () => boolean;
}

/** Nothing is read before the streams run. */
export function createClusterView(options: ClusterViewOptions): ClusterView {
  const snapshot = emptySnapshot();
  const reflect = <T>(resource: Resource, decode: (raw: unknown) => Decoded<T>): Reflector<T> =>
    createReflector({ ...options, resource, slim: decodeWith(decode), backoff: PROMPT_BACKOFF });
  const classes = reflect(PRIORITY_CLASSES, decodeAnnotatedClass);
  const namespaces = reflect(NAMESPACES, decodeNamespace);
  const nodes = reflect(NODES, decodeNode);
  const budgets = reflect(PDBS, readBudget);
  const { listWatch: pods } = createListWatch(
    { ...options, resource: PODS, message: SCHEDULED_POD, backoff: PROMPT_BACKOFF },
    (report) => createPodSink(snapshot, report, options),
  );
  // Optional: without agents the kind does not exist, and nothing may wait for it.
  const pressures = createReflector({
    ...options,
    resource: NODE_PRESSURES,
    slim: readPressure,
    backoff: REFLECTOR_BACKOFF,
  });
  follow(
    namespaces,
    (each: Namespace) => putNamespace(snapshot, each),
    ({ name }) => removeNamespace(snapshot, name),
  );
  follow(
    nodes,
    (each: Node) => putNode(snapshot, each),
    ({ name }) => removeNode(snapshot, name),
  );
  follow(
    budgets,
    (each: DisruptionBudget) => putBudget(snapshot, each),
    (each) => removeBudget(snapshot, each),
  );
  follow(
    pressures,
    ({ facts, records, evicted }: SeenPressure) => {
      snapshot.pressures.set(facts.node, facts);
      options.observeLoops({ node: facts.node, records });
      options.observeEvictions?.(evicted);
    },
    ({ facts }) => snapshot.pressures.delete(facts.node),
  );
  followDaemonSets(options, snapshot);
  const byName = { classes, namespaces, nodes, budgets, pods };
  return {
    snapshot,
    classes,
    namespaces,
    pods,
    missing: () => Object.entries<ListWatch>(byName).flatMap(([name, each]) => (each.isSynced() ? [] : [name])),
    recordedLoops: () => (pressures.isSynced() ? loopsOf(pressures.values()) : undefined),
    isStale: () => isStale([pods, nodes], options.clock.monotonic()),
  };
}

interface DaemonSet {
  readonly key: string;
  readonly uid: string;
}

/** Optional too: if DaemonSets cannot be read, no pod counts as part of one. */
function followDaemonSets(options: ReadingContext, { daemonSets }: ClusterSnapshot): void {
  const only = { isMetadataOnly: true, slim: readDaemonSet, backoff: REFLECTOR_BACKOFF };
  const reflector = createReflector({ ...options, resource: DAEMON_SETS, ...only });
  follow(
    reflector,
    ({ key, uid }) => daemonSets.set(key, uid),
    ({ key }) => daemonSets.delete(key),
  );
}

function readDaemonSet({ metadata: { namespace = '', name = '', uid = '' } }: KubeObject): DaemonSet {
  return { key: `${namespace}/${name}`, uid };
}

/** The fields of a NodePressure that the view keeps. */
interface SeenPressure extends Pick<RecordedLoops, 'records'> {
  readonly facts: NodePressureFacts;
  readonly evicted: readonly ReportedEviction[];
}

function readPressure(raw: KubeObject): SeenPressure {
  const pressure = decodeNodePressure(raw);
  const evicted = reportedEvictions(pressure);
  return { facts: pressureFacts(pressure), records: pressure.preemptionLoops, evicted };
}

function* loopsOf(pressures: Iterable<SeenPressure>): Generator<RecordedLoops> {
  for (const { facts, records } of pressures) yield { node: facts.node, records };
}

function follow<T>(reflector: Reflector<T>, put: (value: T) => unknown, remove: (value: T) => unknown): void {
  reflector.onChange(({ kind, value }) => (kind === 'deleted' ? remove : put)(value));
}

/** An accepted eviction makes its pod terminate at once, and the view shows that within a minute. */
const SEEN_AFTER_MS = 60_000;
const NO_PODS: ReadonlySet<string> = new Set();

/** The fields of a NodePressure that preemption and placement decisions read. */
export function pressureFacts({ name, avoid, status }: NodePressure): NodePressureFacts {
  return {
    node: name,
    observedAt: status?.observedAt,
    isEnforced: status?.mode === 'Enforce',
    pressure: worstState(status),
    overRequest: uidsOf((status?.next ?? []).filter(isOverRequest)),
    evicting: uidsOf((status?.evictions ?? []).filter((each) => isGoing(each, status?.observedAt))),
    avoid: avoid.map(({ owner, until, hard }) => ({ owner, until, isHard: hard })),
    memory: memoryUse(status),
    pods: status?.pods && new Map(status.pods.map((entry) => [entry.uid, podFigures(entry)])),
  };
}

function podFigures({ cpu, memory, waiting, oomKills }: PodEntry): PodFigures {
  const parsed = parseQuantity(cpu ?? '');
  return {
    cpu: parsed.ok ? quantityMilliNumber(parsed.quantity) : undefined,
    memory: reportedNumber(memory),
    waiting,
    oomKills,
  };
}

const MEMORY = 'memory.available';

/** The memory figures of a report; rankings of other signals name other figures. */
function memoryUse(status: NodePressureStatus | undefined): NodePressureFacts['memory'] {
  const signal = status?.signals.find(({ name }) => name === MEMORY);
  const [capacity, available] = [reportedNumber(signal?.capacity), reportedNumber(signal?.available)];
  if (status === undefined || capacity === undefined || available === undefined) return undefined;
  const pods = status.next.filter(({ because }) => because.facts['signal'] === MEMORY);
  return {
    used: capacity - available,
    ofPods: new Map(pods.flatMap(({ uid, usage }) => toEntry(uid, reportedNumber(usage)))),
  };
}

function toEntry(uid: string, bytes: number | undefined): readonly (readonly [string, number])[] {
  return bytes === undefined ? [] : [[uid, bytes]];
}

function worstState(status: NodePressureStatus | undefined): NodePressureFacts['pressure'] {
  const state = worstSignal(status?.signals ?? [])?.state;
  return state === 'Hard' || state === 'Soft' ? state : undefined;
}

function isOverRequest({ usage, request }: NextEntry): boolean {
  const used = parseQuantity(usage ?? '');
  const requested = parseQuantity(request ?? '0');
  return used.ok && requested.ok && compareQuantities(used.quantity, requested.quantity) > 0;
}

/** Both times are by the agent's clock. */
function isGoing({ mode, outcome, requestedAt, endedAt }: EvictionEntry, observedAt: Instant | undefined): boolean {
  if (mode !== 'Enforce' || endedAt !== undefined || !REMOVING_OUTCOMES.includes(outcome)) return false;
  if (requestedAt === undefined || observedAt === undefined) return false;
  return Math.abs(observedAt - requestedAt) <= SEEN_AFTER_MS;
}

/** Shared, because most nodes have none. */
function uidsOf(entries: readonly { readonly uid: string }[]): ReadonlySet<string> {
  return entries.length === 0 ? NO_PODS : new Set(entries.map(({ uid }) => uid));
}

/** Selectors written by people have a few requirements, and all budgets of a cluster are held in memory. */
const LARGEST_SELECTOR = 100;

/**
 * Decodes a budget as `decodeBudget` does, but fails if its selector names more than a hundred labels and values: such
 * a budget protects no pod.
 */
export function readBudget(raw: unknown): Decoded<DisruptionBudget> {
  const budget = decodeBudget(raw);
  if (!budget.ok || budget.value.selector === undefined) return budget;
  const size = selectorSize(budget.value.selector);
  if (size <= LARGEST_SELECTOR) return budget;
  const message = `expected at most ${LARGEST_SELECTOR} labels and values, got ${size}`;
  return { ok: false, field: 'spec.selector', message };
}

/** The API server sends each watch a bookmark about once a minute, so a longer silence means that the watch stalled. */
const STALE_AFTER_MS = 75_000;

/**
 * Whether the API server has been silent about one of these kinds for so long that the copy may be out of date. `nowMs`
 * is monotonic. A kind that was never read is missing, not stale.
 */
export function isStale(kinds: readonly Pick<ListWatch, 'lastContactMs'>[], nowMs: number): boolean {
  return kinds.some((kind) => nowMs - (kind.lastContactMs() ?? nowMs) > STALE_AFTER_MS);
}
