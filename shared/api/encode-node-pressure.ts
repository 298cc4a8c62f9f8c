import { ownerText, type Instant } from '#shared/domain/pod/pod.ts';
import type { LoopRecord } from '#shared/domain/preemption/loop/loop-record.ts';
import { DRY_RUN_SUFFIX } from './decode-node-pressure.ts';
import { encodeObject, present, timeText, unlessEmpty } from './fields.ts';
import type {
  AvoidEntry,
  EvictionEntry,
  NodePressure,
  NodePressureStatus,
  PodEntry,
  PressureConditionEntry,
  SignalEntry,
} from './node-pressure.ts';

/** The object as the API server stores it; absent fields are left out, times are RFC 3339. */
export function encodeNodePressure({ name, resourceVersion, avoid, preemptionLoops, status }: NodePressure): object {
  const spec = present({
    avoid: unlessEmpty(encodeAvoid(avoid)),
    preemptionLoops: unlessEmpty(encodePreemptionLoops(preemptionLoops)),
  });
  return encodeObject(
    'NodePressure',
    { name, resourceVersion },
    { spec: Object.keys(spec).length === 0 ? undefined : spec, status: status && encodeStatus(status) },
  );
}

/** The entries of `spec.avoid`. */
export function encodeAvoid(entries: readonly AvoidEntry[]): readonly object[] {
  return entries.map(({ owner, until, cause, hard }) =>
    present({ owner: present({ ...owner }), until: timeText(until), cause, hard }),
  );
}

/** The entries of `spec.preemptionLoops`. */
export function encodePreemptionLoops(records: readonly LoopRecord[]): readonly object[] {
  return records.map(({ preemptor, victim, rounds, until, ...others }) =>
    present({
      ...others,
      preemptor: present({ ...preemptor }),
      victim: present({ ...victim }),
      rounds: rounds.map(timeText),
      until: timeText(until),
    }),
  );
}

/** The status as the API server stores it. */
export function encodeStatus(status: NodePressureStatus): object {
  return present({
    ...status,
    observedAt: optionalTime(status.observedAt),
    conditions: status.conditions.map(encodeCondition),
    signals: status.signals.map(encodeSignal),
    next: status.next.map((entry) => present({ ...entry })),
    evictions: status.evictions.map(encodeEviction),
    pods: status.pods?.map(encodePod),
    rules: status.rules?.map((entry) => present({ ...entry })),
  });
}

function encodePod({ waiting, ...entry }: PodEntry): object {
  return present({ ...entry, waiting: present({ ...waiting }) });
}

function encodeCondition(condition: PressureConditionEntry): object {
  return present({ ...condition, lastTransitionTime: optionalTime(condition.lastTransitionTime) });
}

function encodeSignal(signal: SignalEntry): object {
  return present({ ...signal, since: optionalTime(signal.since), observedAt: optionalTime(signal.observedAt) });
}

function encodeEviction({ mode, ...entry }: EvictionEntry): object {
  return present({
    ...entry,
    owner: entry.owner && ownerText(entry.owner),
    ownerUid: entry.owner?.uid,
    outcome: mode === 'DryRun' ? `${entry.outcome}${DRY_RUN_SUFFIX}` : entry.outcome,
    startedAt: optionalTime(entry.startedAt),
    requestedAt: optionalTime(entry.requestedAt),
    endedAt: optionalTime(entry.endedAt),
  });
}

function optionalTime(instant: Instant | undefined): string | undefined {
  return instant === undefined ? undefined : timeText(instant);
}
