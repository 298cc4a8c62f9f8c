import type { ReschedulingMemory } from '#shared/domain/rescheduling/memory.ts';
import type { KeepAway, Move, ReschedulingResult } from '#shared/domain/rescheduling/pass.ts';
import type { ReschedulingPolicy } from '#shared/domain/rescheduling/policy.ts';
import { MOVES_PER_MINUTE, runPass } from '#shared/domain/rescheduling/run-pass.ts';
import type { EvictedPod } from '#shared/domain/disruption/disruption.ts';
import { evictedPod, statusOf } from '#shared/domain/rescheduling/status.ts';
import { encodeReschedulingStatus } from '#shared/api/rescheduling-status.ts';
import { ownerText } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { moveRules } from '#shared/kube/annotations/annotations.ts';
import { type RunningGangs, withGangLimits } from '#shared/kube/annotations/running-gangs.ts';
import { API_VERSION, COMPONENT_NAMES, EVENT_REASONS } from '#shared/kube/api-names.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import type { EventRecorder } from '#shared/kube/events/event-recorder.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import { RESCHEDULING_POLICIES } from '#shared/kube/resource.ts';
import { inChunks } from '#shared/runtime/turns/turns.ts';
import { type AvoidPorts, carryOutMove, keepAway, moveId } from './carry-out.ts';
import type { PodLimits } from '#scheduler/disruptions/known-limits.ts';
import { measurementsIn } from '#shared/domain/rescheduling/load.ts';
import { faultLog } from '#shared/runtime/fault-log.ts';
import { LOG, passNote } from './messages.ts';
import type { ReschedulingMetrics } from './rescheduling-metrics.ts';

/** A policy as it is stored. */
export interface StoredPolicy {
  readonly policy: ReschedulingPolicy;
  readonly uid: string;
  readonly generation: number;
}

/** What the passes of one term read and write. */
export interface ReschedulingPorts extends ClientContext {
  readonly snapshot: ClusterSnapshot;
  readonly limits: Pick<PodLimits, 'limitsIn'>;
  readonly gangs: Pick<RunningGangs, 'of'>;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly term: Pick<LeaseTerm, 'isHeld'>;
  readonly metrics: ClientContext['metrics'];
  readonly reschedulingMetrics: ReschedulingMetrics;
}

/** What one pass of a policy hands to the next. */
export interface Remembered {
  readonly memory: ReschedulingMemory;
  /** The most recently evicted pods, oldest first. */
  readonly evicted: readonly EvictedPod[];
}

export interface MadePass extends Remembered {
  /** Whether the next pass is due soon: this pass made as many moves as it may. */
  readonly isBusy: boolean;
}

/**
 * Runs one pass of a policy: reads the copy of the cluster, plans, carries out the moves unless it is a dry run, and
 * reports.
 */
export async function makePass(
  stored: StoredPolicy,
  before: Remembered,
  ports: ReschedulingPorts,
  signal: AbortSignal,
): Promise<MadePass> {
  const { policy } = stored;
  const { snapshot, limits, clock, log } = ports;
  const isDryRun = policy.mode === 'DryRun';
  const request = {
    now: clock.now(),
    memory: before.memory,
    rules: moveRules(snapshot.namespaces, policy.fitElsewhere),
    limitsOf: withGangLimits(limits.limitsIn(snapshot, clock.now()), ports.gangs),
    measurements: measurementsIn(snapshot, clock.now()),
    ...(!isDryRun && { most: MOVES_PER_MINUTE }),
  };
  const startedAt = clock.monotonic();
  const result = await inChunks(runPass(snapshot, policy, request), clock, signal);
  ports.reschedulingMetrics.seconds.observe((clock.monotonic() - startedAt) / 1_000);
  const moved = isDryRun ? [] : await carryOut(result.moves, policy, ports, signal);
  if (!isDryRun) await keepOwnersAway(result.keptAway, policy, ports, signal);
  const evicted = [...before.evicted, ...moved.map((move) => evictedPod(move, moveId(move), clock.now()))];
  const status = statusOf(result, { now: request.now, mode: policy.mode, moved: moved.length, evicted });
  await writeStatus(policy.name, encodeReschedulingStatus(status), ports, signal);
  report(stored, result, { moved: moved.length, isDryRun }, ports);
  log.info({ policy: policy.name, planned: result.moves.length, moved: moved.length, dryRun: isDryRun }, LOG.passMade);
  return {
    memory: isDryRun ? withoutMoves(result.memory, before.memory) : forgetRefused(result, moved),
    evicted: status.evicted,
    isBusy: moved.length >= MOVES_PER_MINUTE,
  };
}

/** A dry run moves nothing, so it remembers only its measurements. */
function withoutMoves(after: ReschedulingMemory, before: ReschedulingMemory): ReschedulingMemory {
  return { ...before, hotReadings: after.hotReadings, lowReadings: after.lowReadings };
}

/** A move that was not carried out does not count for its owner. */
function forgetRefused({ memory, moves }: ReschedulingResult, moved: readonly Move[]): ReschedulingMemory {
  const refused = new Set(moves.filter((move) => !moved.includes(move)).map(({ pod }) => pod.placed.pod.uid));
  if (refused.size === 0) return memory;
  const owners = [...memory.owners].map(
    ([id, owner]) => [id, { ...owner, moves: owner.moves.filter(({ uid }) => !refused.has(uid)) }] as const,
  );
  return { ...memory, owners: new Map(owners) };
}

async function carryOut(
  moves: readonly Move[],
  policy: ReschedulingPolicy,
  ports: ReschedulingPorts,
  signal: AbortSignal,
): Promise<readonly Move[]> {
  const moved: Move[] = [];
  for (const move of moves) {
    // A former leader must not write.
    if (!ports.term.isHeld() || signal.aborted) break;
    if (await carryOutOne(move, policy, ports, signal)) moved.push(move);
  }
  return moved;
}

function avoidPorts({ name }: ReschedulingPolicy, { client, clock, log }: ReschedulingPorts): AvoidPorts {
  const avoidFaults = faultLog(log, LOG.avoidNotWritten);
  return { client, policy: name, now: () => clock.now(), avoidFaults };
}

async function keepOwnersAway(
  entries: readonly KeepAway[],
  policy: ReschedulingPolicy,
  ports: ReschedulingPorts,
  signal: AbortSignal,
): Promise<void> {
  for (const entry of entries) {
    if (!ports.term.isHeld() || signal.aborted) return;
    await keepAway(entry, avoidPorts(policy, ports), signal);
    const { owner, node, because } = entry;
    ports.log.info({ owner: ownerText(owner), node, because: because.text }, LOG.ownerKeptAway);
  }
}

async function carryOutOne(
  move: Move,
  policy: ReschedulingPolicy,
  ports: ReschedulingPorts,
  signal: AbortSignal,
): Promise<boolean> {
  const { snapshot, log, reschedulingMetrics } = ports;
  const { namespace, name, uid } = move.pod.placed.pod;
  const outcome = await carryOutMove(move, { ...avoidPorts(policy, ports), snapshot }, signal);
  reschedulingMetrics.moves.add({ policy: move.policy, outcome: outcome.kind });
  const fields = {
    pod: `${namespace}/${name}`,
    uid,
    from: move.from,
    expectedOn: move.expectedOn[0],
    decision: moveId(move),
  };
  if (outcome.kind !== 'evicted') {
    log.info({ ...fields, kind: outcome.kind, message: outcome.message }, LOG.moveRefused);
    return false;
  }
  log.info({ ...fields, gain: move.gain, code: move.because.code, because: move.because.text }, LOG.podMoved);
  return true;
}

const WRITE = { type: 'merge', fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;

async function writeStatus(
  name: string,
  status: object,
  { client, log, term }: ReschedulingPorts,
  signal: AbortSignal,
): Promise<void> {
  if (!term.isHeld() || signal.aborted) return;
  const address = { resource: RESCHEDULING_POLICIES, name, subresource: 'status' };
  const outcome = await patchObject(client, address, { status }, { ...WRITE, signal });
  faultLog(log, LOG.statusNotWritten).answered(name, outcome);
}

/** At most one Event per pass, and none for a pass without a move. */
function report(
  { policy, uid }: StoredPolicy,
  { moves, memory, considered }: ReschedulingResult,
  { moved, isDryRun }: { readonly moved: number; readonly isDryRun: boolean },
  { events, reschedulingMetrics }: ReschedulingPorts,
): void {
  reschedulingMetrics.considered.set(considered);
  for (const [kind, { expected, reached }] of memory.policies) {
    reschedulingMetrics.gain.set(expected, { policy: kind, gain: 'expected' });
    reschedulingMetrics.gain.set(reached, { policy: kind, gain: 'reached' });
  }
  if (moves.length === 0) return;
  events.record({
    regarding: { apiVersion: API_VERSION, kind: RESCHEDULING_POLICIES.kind, name: policy.name, uid },
    type: 'Normal',
    reason: isDryRun ? EVENT_REASONS.reschedulingDryRun : EVENT_REASONS.rescheduled,
    note: passNote(moves.length, moved, isDryRun),
    action: 'Reschedule',
  });
}
