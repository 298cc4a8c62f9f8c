import { z } from 'zod';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';
import { hasCriticalPriority } from '#shared/domain/eviction/protection.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import {
  addDisplacement,
  attributeVictims,
  contenderOf,
  type LoopPolicy,
  NO_ROUNDS,
  type NominatedPod,
  type PreemptedPod,
  type PreemptionRounds,
  loopBetween,
  loopingParties,
  type Sides,
} from '#shared/domain/preemption/loop/preemption-rounds.ts';
import {
  adoptRecords,
  isRefused,
  type LoopAction,
  type LoopRecord,
  nodesToLeave,
  planRecords,
  type RecordOnNode,
  MAX_WINDOW_MS,
  MAX_ROUNDS,
} from '#shared/domain/preemption/loop/loop-record.ts';
import { priorityOf, type PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import type { Proposal } from '#shared/domain/preemption/proposal/proposal.ts';
import { type EventRecorder, podReference } from '#shared/kube/events/event-recorder.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';

/** The preemptions between owners that this process knows. */
export interface PreemptionLoops {
  readonly mode: LoopsConfiguration['mode'];
  /**
   * Records a victim, or a nomination if there is no victim: `nominatedTo` returns the pods nominated to a node, the
   * latest last.
   */
  readonly see: (
    victim: Omit<PreemptedPod, 'at'> | undefined,
    nominatedTo: (node: string) => readonly NominatedPod[],
  ) => void;
  /** Records what the NodePressure of a node says about the time before this process started. */
  readonly adopt: (node: string, records: readonly LoopRecord[]) => void;
  /** What the NodePressures should record now, by node. */
  readonly records: () => ReadonlyMap<string, readonly LoopRecord[]>;
  /** Whether any pair of owners is in a loop now. */
  readonly isAny: () => boolean;
  /** Why preempting `victim` for `preemptor` would continue a loop; `undefined` if it would not. */
  readonly between: (victim: Pod, preemptor: Pod) => Because | undefined;
  /** As `between`, if preemptions are refused for it. */
  readonly refusal: (victim: Pod, preemptor: Pod) => Because | undefined;
  /** Nodes that the owner of `preemptor` should leave to others. */
  readonly toLeave: (preemptor: Pod) => ReadonlyMap<string, Because>;
}

/**
 * Counts in memory: each replica of the extender sees the same pods. Times are wall time, because those of other
 * processes come from NodePressures. Pods that the cluster itself needs must find room, so a preemptor of system
 * priority is never part of a loop.
 */
export function createPreemptionLoops(configuration: LoopsConfiguration, clock: Pick<Clock, 'now'>): PreemptionLoops {
  const { mode, rounds: most, windowSeconds } = configuration;
  const policy: LoopPolicy = { rounds: most, windowMs: windowSeconds * 1000 };
  const action: LoopAction = mode === 'Enforce' ? configuration.action : 'Report';
  const startedAt: Instant = clock.now();
  let waiting: readonly PreemptedPod[] = [];
  let rounds = NO_ROUNDS;
  let looping = loopingParties(rounds, policy);
  const take = (next: PreemptionRounds): void => {
    if (next === rounds) return;
    rounds = next;
    looping = loopingParties(rounds, policy);
  };
  const isAny = (): boolean => mode !== 'Off' && clock.now() < looping.until;
  const between: PreemptionLoops['between'] = (victim, preemptor) => {
    if (!isAny() || hasCriticalPriority(preemptor)) return undefined;
    const sides = sidesOf(victim, preemptor);
    if (!looping.parties.has(sides.preemptor)) return undefined;
    return loopBetween(rounds, sides, policy, clock.now());
  };
  const records = () => planRecords(rounds, policy, action, clock.now());
  return {
    mode,
    see(victim, nominatedTo) {
      const now = clock.now();
      const victims = victim === undefined ? waiting : [...waiting, { ...victim, at: now }];
      const attribution = attributeVictims(victims, nominatedTo, now);
      waiting = attribution.waiting;
      take(attribution.found.reduce((all, found) => addDisplacement(all, found, policy), rounds));
    },
    adopt: (node, records) => take(adoptRecords(rounds, { node, records, before: startedAt }, policy)),
    records,
    isAny,
    between,
    refusal: (victim, preemptor) => {
      const because = between(victim, preemptor);
      const attempt = { ...sidesOf(victim, preemptor), priority: priorityOf(preemptor) };
      return because && isRefused(rounds, attempt, action) ? because : undefined;
    },
    toLeave: (preemptor) => nodesToLeave(isAny() ? flatten(records()) : [], preemptor, clock.now()),
  };
}

function flatten(records: ReturnType<PreemptionLoops['records']>): readonly RecordOnNode[] {
  return Array.from(records).flatMap(([node, own]) => own.map((record) => ({ ...record, node })));
}

function sidesOf(victim: Pod, preemptor: Pod): Sides {
  return { preemptor: contenderOf(preemptor).party, victim: contenderOf(victim).party };
}

/** `preemptionLoops` of SchedulerConfiguration: what to do if two owners preempt each other in turn. */
export const loopsSchema = z
  .strictObject({
    mode: z
      .enum(['Off', 'DryRun', 'Enforce'])
      .default('DryRun')
      .describe('Enforce breaks a loop as action says; DryRun only reports it; Off does neither'),
    action: z
      .enum(['Refuse', 'Avoid'])
      .default('Refuse')
      .describe(
        'Refuse refuses preemptions between the two owners; Avoid adds the owner of the last victim to the avoid list of the node, if avoidance.mode of the NodePressurePolicy is Enforce',
      ),
    rounds: z
      .number()
      .int()
      .min(2)
      .max(MAX_ROUNDS)
      .default(3)
      .describe('How many times within windowSeconds two owners may displace the pods of each other'),
    windowSeconds: z
      .number()
      .min(60)
      .max(MAX_WINDOW_MS / 1000)
      .default(3_600)
      .describe('Period over which these rounds are counted'),
  })
  .prefault({});

export type LoopsConfiguration = z.output<typeof loopsSchema>;

/** A pod that the API server shows. */
export interface ShownPod {
  readonly pod: Pod;
  readonly raw: KubeObject;
  /** The snapshot's previous state; `undefined` for a pod that was neither on a node nor nominated to one. */
  readonly previous: PlacedPod | undefined;
}

/** Observes a pod after the snapshot has recorded its change. */
export type ObservePod = (seen: ShownPod, snapshot: ClusterSnapshot) => void;

export interface ReportOptions {
  readonly loops: Pick<PreemptionLoops, 'mode' | 'isAny' | 'between'>;
  readonly snapshot: Pick<ClusterSnapshot, 'placedPods'>;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly log: Pick<Log, 'warn'>;
  readonly metrics: Metrics;
}

/** Events per proposal; more would tell the reader nothing new. */
const MAX_REPORTED = 10;

interface FoundLoop {
  readonly victim: Pod;
  readonly because: Because;
}

/**
 * Reports each loop that a proposed preemption would continue: an Event on the pending pod that names both owners, a
 * log line, and a count. Only the replica that receives the request does so.
 */
export function reportLoops(options: ReportOptions): (proposed: Pick<Proposal, 'pod' | 'proposal'>) => Steps<void> {
  const { loops, events, log, metrics } = options;
  const counter = metrics.counter(
    'plimsoll_extender_preemption_loops_total',
    'Pairs of owners in proposed preemptions that would continue a loop, by mode',
    ['mode'],
  );
  counter.add({ mode: loops.mode }, 0);
  return function* (proposed) {
    if (!loops.isAny()) return;
    for (const { victim, because } of yield* loopsIn(proposed, options)) {
      counter.add({ mode: loops.mode });
      log.warn({ ...because.facts, code: because.code, mode: loops.mode }, 'Loop of preemptions');
      events.record(eventOf(proposed.pod, { victim, because }, loops.mode));
    }
  };
}

/** One for each owner of victims, whatever the node; of very many, only some. */
function* loopsIn(
  { pod, proposal }: Pick<Proposal, 'pod' | 'proposal'>,
  options: ReportOptions,
): Steps<readonly FoundLoop[]> {
  const found = new Map<string, FoundLoop>();
  for (const { uids } of proposal) {
    for (const uid of uids) {
      const victim = options.snapshot.placedPods.get(uid)?.pod;
      const because = victim && options.loops.between(victim, pod);
      if (victim !== undefined && because !== undefined) found.set(because.text, { victim, because });
    }
    if (found.size >= MAX_REPORTED) break;
    yield;
  }
  return [...found.values()].slice(0, MAX_REPORTED);
}

function eventOf(preemptor: Pod, { victim, because }: FoundLoop, mode: PreemptionLoops['mode']) {
  return {
    regarding: podReference(preemptor),
    related: podReference(victim),
    type: 'Warning',
    reason: EVENT_REASONS.preemptionLoop,
    note: mode === 'DryRun' ? `${because.text} (dry run)` : because.text,
    action: 'Preempting',
  } as const;
}
