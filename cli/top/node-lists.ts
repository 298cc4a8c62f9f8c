import {
  type NodePressure,
  isFresh,
  type SignalEntry,
  type SignalState,
  worstSignal,
} from '#shared/api/node-pressure.ts';
import type { Selector } from '#shared/domain/labels/label-selector.ts';
import { ageText, compareTexts } from '#shared/domain/base/texts.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { readableAmount } from '#shared/domain/quantity/format-quantity.ts';
import { clusterModel } from '#cli/cluster/cluster-model.ts';
import type { ClusterManifests } from '#cli/cluster/read-manifests.ts';
import type { Listing } from '#cli/output/listing.ts';
import { type Metadata, metadataOf } from '#cli/output/answer.ts';
import { UNKNOWN } from './messages.ts';

/** Which nodes or pods to show; all by default. */
export interface Shown {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly selector?: Selector | undefined;
}

/** The nodes with what their agents report. */
export function nodeList(read: ClusterManifests, { name, selector }: Shown): Listing<NodeRow> {
  const { pressures, nodes } = clusterModel(read);
  const selected = selector && new Set(nodes.filter(({ labels }) => selector.matches(labels)).map((node) => node.name));
  const rows = nodeRows(pressures, read.now).filter(
    ({ metadata }) => (name ?? metadata.name) === metadata.name && (selected?.has(metadata.name) ?? true),
  );
  return {
    kind: 'NodeSummary',
    rows,
    itemOf: (row) => row,
    nameOf: ({ metadata }) => `node/${metadata.name}`,
    columns: nodeColumns(read.now),
  };
}

/** As with kubectl, the columns of `-o wide` come after the age. */
function nodeColumns(now: Instant): Listing<NodeRow>['columns'] {
  return [
    { header: 'NAME', cell: ({ metadata }) => metadata.name },
    { header: 'MODE', cell: ({ mode }) => mode },
    { header: 'STATE', cell: ({ state }) => state },
    { header: 'SIGNAL', cell: ({ signal }) => signal },
    { header: 'AVAILABLE', cell: ({ available }) => amountText(available) },
    { header: 'THRESHOLD', cell: ({ threshold }) => amountText(threshold) },
    { header: 'NEXT', cell: ({ next = '<none>' }) => next },
    { header: 'AGE', cell: (row) => observedAge(row, now), isAge: true },
    { header: 'CAPACITY', cell: ({ capacity }) => amountText(capacity), isWide: true },
    { header: 'POLICY', cell: ({ policy = '<none>' }) => policy, isWide: true },
    { header: 'VERSION', cell: ({ version = UNKNOWN }) => version, isWide: true },
  ];
}

/** The pods that would be evicted next on each node. */
export function podList(read: ClusterManifests, { namespace, selector }: Shown): Listing<PodRow> {
  const { pressures, pods } = clusterModel(read);
  const selected =
    selector &&
    new Set(pods.filter(({ labels }) => selector.matches(labels)).map((pod) => `${pod.namespace}/${pod.name}`));
  const rows = podRows(pressures, read.now).filter(
    ({ metadata }) =>
      (namespace ?? metadata.namespace) === metadata.namespace &&
      (selected?.has(`${metadata.namespace ?? ''}/${metadata.name}`) ?? true),
  );
  return {
    kind: 'EvictionCandidate',
    rows,
    itemOf: (row) => row,
    nameOf: ({ metadata }) => `pod/${metadata.name}`,
    columns: podColumns(read.now),
  };
}

/** Free text comes last, as in `kubectl get events`. */
function podColumns(now: Instant): Listing<PodRow>['columns'] {
  return [
    { header: 'NAMESPACE', cell: ({ metadata }) => metadata.namespace ?? '' },
    { header: 'NAME', cell: ({ metadata }) => metadata.name },
    { header: 'NODE', cell: ({ node }) => node },
    { header: 'POSITION', cell: ({ position }) => String(position) },
    { header: 'PRIORITY', cell: ({ priority = 0 }) => String(priority) },
    { header: 'USAGE', cell: ({ usage }) => amountText(usage) },
    { header: 'REQUEST', cell: ({ request }) => amountText(request) },
    { header: 'AGE', cell: (row) => observedAge(row, now), isAge: true },
    { header: 'REASON', cell: ({ reason }) => reason },
  ];
}

/** Nodes whose agent has stopped reporting. */
export function silentNodes(pressures: readonly NodePressure[], now: Instant): readonly string[] {
  return nodeRows(pressures, now)
    .filter(({ state }) => state === 'Unknown')
    .map(({ metadata }) => metadata.name);
}

function observedAge({ observedAt }: Pick<NodeRow, 'observedAt'>, now: Instant): string {
  return ageText(observedAt === undefined ? undefined : Date.parse(observedAt), now);
}

function amountText(amount: string | undefined): string {
  return amount === undefined ? UNKNOWN : readableAmount(amount);
}

/** One node of `plimsoll top nodes`. */
export interface NodeRow {
  readonly metadata: Metadata;
  readonly mode: string;
  /** The worst state of all signals; `Unknown` without a fresh report. */
  readonly state: SignalState | 'Unknown';
  /** Headroom of the signal in that state, else of memory. */
  readonly signal: string;
  readonly available: string | undefined;
  readonly threshold: string | undefined;
  readonly capacity: string | undefined;
  /** The pod that would be evicted first. */
  readonly next: string | undefined;
  /** The NodePressurePolicy in force. */
  readonly policy: string | undefined;
  /** Of the agent. */
  readonly version: string | undefined;
  /** When the agent last reported, RFC 3339. */
  readonly observedAt: string | undefined;
}

/** One pod of `plimsoll top pods`. */
interface PodRow {
  readonly metadata: Metadata;
  readonly node: string;
  /** 1 is evicted first. */
  readonly position: number;
  readonly priority: number | undefined;
  readonly usage: string | undefined;
  readonly request: string | undefined;
  readonly reason: string;
  /** When the agent of the node reported it, RFC 3339. */
  readonly observedAt: string | undefined;
}

const STATES: readonly SignalState[] = ['Far', 'Near', 'Soft', 'Hard'];
const MEMORY = 'memory.available';
const UNKNOWN_SIGNAL = { signal: MEMORY, available: undefined, threshold: undefined, capacity: undefined };

/** Nodes as reported by their agents, those in the worst state first. */
export function nodeRows(pressures: readonly NodePressure[], now: Instant): readonly NodeRow[] {
  return pressures.map((each) => nodeRow(each, now)).toSorted(byState);
}

function nodeRow({ name, status }: NodePressure, now: Instant): NodeRow {
  const known = { metadata: { name }, ...reportOf(status) };
  if (!isFresh(status, now)) return { ...known, state: 'Unknown', ...UNKNOWN_SIGNAL, next: undefined };
  const worst = worstSignal(status.signals);
  const shown = worst === undefined ? UNKNOWN_SIGNAL : figuresOf(worst);
  return { ...known, state: worst?.state ?? 'Far', ...shown, next: status.next[0]?.pod };
}

function reportOf(status: NodePressure['status']): Pick<NodeRow, 'mode' | 'policy' | 'version' | 'observedAt'> {
  const { mode = 'DryRun', policy, agent, observedAt } = status ?? {};
  return { mode, policy, version: agent?.version, observedAt: timeText(observedAt) };
}

function timeText(time: Instant | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}

function figuresOf({ name, available, threshold, capacity }: SignalEntry): typeof UNKNOWN_SIGNAL | FigureColumns {
  return { signal: name, available, threshold, capacity };
}

type FigureColumns = Pick<NodeRow, 'signal' | 'available' | 'threshold' | 'capacity'>;

/** A node without a report may be in any state, so it comes first. */
function byState(a: NodeRow, b: NodeRow): number {
  return order(b) - order(a) || compareTexts(a.metadata.name, b.metadata.name);
}

function order({ state }: NodeRow): number {
  return state === 'Unknown' ? STATES.length : STATES.indexOf(state);
}

/** The pods that would be evicted next on each node, from fresh reports. */
function podRows(pressures: readonly NodePressure[], now: Instant): readonly PodRow[] {
  return pressures.flatMap(({ name, status }) =>
    !isFresh(status, now)
      ? []
      : status.next.map(({ pod, priority, usage, request, because }, index) => ({
          metadata: metadataOf(pod),
          node: name,
          position: index + 1,
          priority,
          usage,
          request,
          reason: because.text,
          observedAt: timeText(status.observedAt),
        })),
  );
}
