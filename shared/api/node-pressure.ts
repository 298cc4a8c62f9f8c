import { z } from 'zod';
import type { AvoidEntry } from '#shared/domain/nodes/avoid-nodes.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { LoopRecord } from '#shared/domain/preemption/loop/loop-record.ts';
import { isFreshReport, MAX_AGE_MS } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { unlessEmpty } from './fields.ts';
import { encodeBySchema, encodeKind } from './schema/decode-kind.ts';
import { readReport } from './schema/decode-report.ts';
import { clipped } from './schema/report-fields.ts';
import {
  AVOID_ENTRY,
  type CONDITION,
  type NEXT_ENTRY,
  NODE_PRESSURE_SPEC,
  NODE_PRESSURE_STATUS,
  type POD_ENTRY,
  PREEMPTION_LOOP,
  type RULE_ENTRY,
  type SIGNAL_ENTRY,
  type THROTTLED_ENTRY,
} from './node-pressure-fields.ts';

export { type AvoidEntry, lastingEntries } from '#shared/domain/nodes/avoid-nodes.ts';
export { isSameOwner, type OwnerKey } from '#shared/domain/pod/pod.ts';
export { boundedOwner, type EvictionEntry } from './node-pressure-fields.ts';

export type NodePressureStatus = Readonly<z.output<typeof NODE_PRESSURE_STATUS>>;
export type PressureConditionEntry = Readonly<z.output<typeof CONDITION>>;
export type SignalEntry = Readonly<z.output<typeof SIGNAL_ENTRY>>;
export type SignalState = SignalEntry['state'];
/** A candidate; amounts are quantities as text. */
export type NextEntry = Readonly<z.output<typeof NEXT_ENTRY>>;
/** Figures of one pod; amounts are quantities as text, and what is not measured is absent. */
export type PodEntry = Readonly<z.output<typeof POD_ENTRY>>;
export type ThrottledEntry = Readonly<z.output<typeof THROTTLED_ENTRY>>;
export type RuleEntry = Readonly<z.output<typeof RULE_ENTRY>>;
/** `Node`: the node itself met the threshold and has not recovered since. `Policy`: other nodes did. */
export type HeldBy = NonNullable<RuleEntry['heldBy']>;

/** One node's NodePressure; times are wall time. */
export interface NodePressure {
  /** Of the object and of its node. */
  readonly name: string;
  readonly resourceVersion: string | undefined;
  /** `spec.avoid`, written by the node controller alone. */
  readonly avoid: readonly AvoidEntry[];
  /** `spec.preemptionLoops`, written by the extender's leader alone. */
  readonly preemptionLoops: readonly LoopRecord[];
  /** Written by the agent of the node alone; `undefined` before its first write. */
  readonly status: NodePressureStatus | undefined;
}

const NAME = clipped(253);
const NODE_PRESSURE = z.codec(
  z.object({
    metadata: z.object({ name: NAME.or(''), resourceVersion: NAME.optional() }).optional(),
    spec: NODE_PRESSURE_SPEC.optional(),
    status: NODE_PRESSURE_STATUS.optional(),
  }),
  z.custom<NodePressure>(),
  {
    decode: ({ metadata, spec, status }) => ({
      ...(metadata ?? { name: '', resourceVersion: undefined }),
      avoid: spec?.avoid ?? [],
      preemptionLoops: spec?.preemptionLoops ?? [],
      status,
    }),
    encode: ({ name, resourceVersion, avoid, preemptionLoops, status }) => ({
      metadata: { name, resourceVersion },
      ...(avoid.length + preemptionLoops.length > 0 && {
        spec: { avoid: unlessEmpty(avoid), preemptionLoops: unlessEmpty(preemptionLoops) },
      }),
      status,
    }),
  },
);

/**
 * Reads a NodePressure object. Never throws: unreadable fields count as absent, and an entry without its key (owner and
 * time, type, name, pod) is left out, because an object of one node must not stop decisions about others.
 */
export function decodeNodePressure(raw: unknown): NodePressure {
  return readReport(NODE_PRESSURE, raw) ?? NOTHING;
}

const NOTHING: NodePressure = {
  name: '',
  resourceVersion: undefined,
  avoid: [],
  preemptionLoops: [],
  status: undefined,
};

/** The object as the API server stores it. */
export function encodeNodePressure(pressure: NodePressure): object {
  return encodeKind('NodePressure', NODE_PRESSURE, pressure);
}

/** The entries of `spec.avoid`. */
export function encodeAvoid(entries: readonly AvoidEntry[]): readonly object[] {
  return entries.map((entry) => encodeBySchema(AVOID_ENTRY, entry));
}

/** The entries of `spec.preemptionLoops`. */
export function encodePreemptionLoops(records: readonly LoopRecord[]): readonly object[] {
  return records.map((record) => encodeBySchema(PREEMPTION_LOOP, record));
}

/** The status as the API server stores it. */
export function encodeStatus(status: NodePressureStatus): object {
  return encodeBySchema(NODE_PRESSURE_STATUS, status);
}

/**
 * Whether a status still describes its node at `now`; if not, the node's state is unknown. A status
 * with a met threshold is fresh for a minute, any other for seven.
 */
export function isFresh(status: NodePressureStatus | undefined, now: Instant): status is NodePressureStatus {
  if (status === undefined) return false;
  const age = hasMetThreshold(status) ? 'underPressure' : 'otherwise';
  return isFreshReport(status.observedAt, now, MAX_AGE_MS[age]);
}

function hasMetThreshold({ signals }: NodePressureStatus): boolean {
  const state = worstSignal(signals)?.state;
  return state === 'Soft' || state === 'Hard';
}

/** From best to worst. */
const STATES: readonly SignalState[] = ['Far', 'Near', 'Soft', 'Hard'];

/** All signals but those of CPU: it is compressible, so little idle CPU is no shortage. */
export function scarceSignals(signals: readonly SignalEntry[]): readonly SignalEntry[] {
  return signals.filter(({ name }) => !name.startsWith('cpu.'));
}

/** The scarce signal in the worst state; among equals memory, then the first. */
export function worstSignal(signals: readonly SignalEntry[]): SignalEntry | undefined {
  const scarce = scarceSignals(signals);
  const memory = scarce.find(({ name }) => name === 'memory.available');
  return scarce.reduce((worst, each) => (worst === undefined || isWorse(each, worst) ? each : worst), memory);
}

function isWorse(one: SignalEntry, other: SignalEntry): boolean {
  return STATES.indexOf(one.state) > STATES.indexOf(other.state);
}
