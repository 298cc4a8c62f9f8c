import type { RecordedEviction } from '#shared/domain/nodes/evicted-owners.ts';
import type { AvoidEntry } from '#shared/domain/nodes/avoid-nodes.ts';
import type { LoopRecord } from '#shared/domain/preemption/loop/loop-record.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { isFreshReport, MAX_AGE_MS, type PodFigures } from '#shared/domain/snapshot/cluster-snapshot.ts';

export { type AvoidEntry, lastingEntries } from '#shared/domain/nodes/avoid-nodes.ts';
export { isSameOwner, type OwnerKey } from '#shared/domain/pod/pod.ts';

/** One node's NodePressure (deploy/crds/plimsoll.dev_nodepressures.yaml); times are wall time. */
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

/** What the agent observed and did. */
export interface NodePressureStatus {
  readonly observedAt: Instant | undefined;
  readonly observedGeneration: number | undefined;
  /** `DryRun` unless the agent says `Enforce`. */
  readonly mode: 'DryRun' | 'Enforce';
  readonly policy: string | undefined;
  readonly agent: { readonly version: string; readonly pod: string } | undefined;
  readonly conditions: readonly PressureConditionEntry[];
  readonly signals: readonly SignalEntry[];
  /** Pods that would be evicted, in that order. */
  readonly next: readonly NextEntry[];
  readonly evictions: readonly EvictionEntry[];
  /** Pods that wait, were killed for memory or use more than they request; `undefined` if the status has no such list. */
  readonly pods?: readonly PodEntry[] | undefined;
  /** `undefined` if the status has no such list. */
  readonly rules: readonly RuleEntry[] | undefined;
}

/** `type` is a resource (`Memory`, `Cpu`, `Io`, `Disk`, `Pid`) or a statement such as `SourcesAgree`. */
export interface PressureConditionEntry {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: Instant | undefined;
}

/** Amounts are quantities as text; `Hard` and `Soft` mean that such a threshold is met. */
export interface SignalEntry {
  readonly name: string;
  readonly state: SignalState;
  readonly available: string | undefined;
  readonly reclaimable: string | undefined;
  readonly figure: 'Reclaimable' | 'Kubelet' | undefined;
  readonly capacity: string | undefined;
  readonly threshold: string | undefined;
  readonly since: Instant | undefined;
  readonly observedAt: Instant | undefined;
}

export type SignalState = 'Far' | 'Near' | 'Soft' | 'Hard';

/** A candidate; `pod` is `namespace/name`, amounts are quantities as text. */
export interface NextEntry {
  readonly pod: string;
  readonly uid: string;
  readonly priority: number | undefined;
  readonly usage: string | undefined;
  readonly request: string | undefined;
  readonly because: Because;
}

/** Figures of one pod; `pod` is `namespace/name`, amounts are quantities as text, and what is not measured is absent. */
export interface PodEntry {
  readonly pod: string;
  readonly uid: string;
  /** What it uses. */
  readonly cpu: string | undefined;
  readonly memory: string | undefined;
  /** Percentage of the time in which some of its tasks waited, other than for the pod's own limit. */
  readonly waiting: PodFigures['waiting'];
  /** Processes that the kernel has killed in it for memory. */
  readonly oomKills: number | undefined;
}

/** An eviction under way, or one of the last that ended; `pod` is `namespace/name`. */
export interface EvictionEntry extends RecordedEviction {
  readonly pod: string;
  readonly stage: string;
  readonly endedAt: Instant | undefined;
  readonly because: Because;
  /** The ID of the decision, as the Eviction carried it. */
  readonly decision?: string | undefined;
}

/** `Node`: the node itself met the threshold and has not recovered since. `Policy`: other nodes did. */
export type HeldBy = 'Node' | 'Policy';

/** A threshold or pressure rule in force, and whether it may act. */
export interface RuleEntry {
  readonly rule: string;
  readonly confirmed: boolean;
  readonly policy: string | undefined;
  readonly generation: number | undefined;
  /** The mode in which it acts once it is confirmed. */
  readonly mode: 'DryRun' | 'Enforce' | undefined;
  /** Why a threshold waits: this node met it, or other nodes did according to the status of the policy. */
  readonly heldBy: HeldBy | undefined;
}

/**
 * Whether a status still describes its node at `now`; if not, the node's state is unknown. A status
 * with a met threshold is fresh for 60 s, any other for 180 s.
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
