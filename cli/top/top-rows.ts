import {
  isFresh,
  type NodePressure,
  type SignalEntry,
  type SignalState,
  worstSignal,
} from '#shared/api/node-pressure.ts';
import { compareTexts } from '#shared/domain/model/texts.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { type Metadata, metadataOf } from '#cli/output/answer.ts';

/** One node of `plimsoll top nodes`. */
export interface NodeRow {
  readonly metadata: Metadata;
  readonly mode: string;
  /** The worst state of all signals; `Unknown` without a fresh report. */
  readonly state: SignalState | 'Unknown';
  /** Of the signal in that state, else of memory. */
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
export interface PodRow {
  readonly metadata: Metadata;
  readonly node: string;
  /** 1 goes first. */
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

/** Nodes as their agents see them, those in the worst state first. */
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

/** A node that says nothing may be in any state, so it stands first. */
function byState(a: NodeRow, b: NodeRow): number {
  return order(b) - order(a) || compareTexts(a.metadata.name, b.metadata.name);
}

function order({ state }: NodeRow): number {
  return state === 'Unknown' ? STATES.length : STATES.indexOf(state);
}

/** The pods that would be evicted next on each node, by fresh reports. */
export function podRows(pressures: readonly NodePressure[], now: Instant): readonly PodRow[] {
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
