import { SECOND_MS } from '#shared/domain/base/durations.ts';
import type { SpareStatus } from '#shared/api/spare-status.ts';
import type { PassResult } from '#shared/decide/eviction/decide.ts';
import type { PodsOnNode } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { restoreSpareState } from '#shared/decide/spare/digest.ts';
import type { SpareObservation } from '#shared/decide/spare/lendable.ts';
import { observeSpare, type SparePods, sparePodsOf } from '#shared/decide/spare/observe-spare.ts';
import { decideSpare, type SpareDecision, type SpareState } from '#shared/decide/spare/spare.ts';
import { spareStatus, writtenSpare } from '#shared/decide/spare/spare-status.ts';
import type { BySpareKind } from '#shared/domain/spare/spare-resources.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { PreviousStatus } from './observe/api-server/node-pressure-object.ts';

export interface SparePorts {
  /** Bytes and millicores that pods may request; `undefined` while the Node is unknown. */
  readonly allocatable: () => BySpareKind<number> | undefined;
  readonly arePodsKnown: () => boolean;
  /** Whether it is known which policy applies: until then nothing is measured, and what was reported stays. */
  readonly isPolicyKnown: () => boolean;
  /** What an earlier process wrote; `undefined` until it has been read. */
  readonly previousStatus: () => PreviousStatus | undefined;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** Measures the spare room of the node while its policy asks for it; otherwise costs nothing. */
export interface SpareMeter {
  readonly passed: (result: PassResult) => void;
  /** `undefined` while nothing is measured. */
  readonly status: () => SpareStatus | undefined;
  /** Whether the policy does not ask for spare room, so that an earlier report must not stay. */
  readonly isUnwanted: () => boolean;
}

const PERIOD_MS = 10 * SECOND_MS;
/** An agent that could not measure for so long lends nothing: amounts that are withdrawn end no pod. */
const BLIND_MS = 60 * SECOND_MS;

/** After so long without an answer an agent that lends is cut off: it could take nothing back. */
const CUT_OFF_MS = 30_000;
/** What has not been written for so long, the API server does not take. */
const OVERDUE_MS = 10_000;

/** How the reports of an agent stand. Times are monotonic milliseconds. */
export interface Reporting {
  readonly lends: boolean;
  readonly overdueSinceMs: number | undefined;
  /** When the API server was last heard. */
  readonly lastContactMs: number | undefined;
}

/** Why an agent that lends is unready, from which the controller learns that it is to withdraw what is lent. */
export function lendingProblem({ lends, overdueSinceMs, lastContactMs }: Reporting, nowMs: number): string | undefined {
  if (!lends) return undefined;
  const sinceMs = (time: number | undefined): number => nowMs - (time ?? nowMs);
  if (sinceMs(lastContactMs) > CUT_OFF_MS) return 'the node lends spare room, and the API server does not answer';
  if (sinceMs(overdueSinceMs) <= OVERDUE_MS) return undefined;
  return 'the node lends spare room, and its NodePressure cannot be written';
}

export function createSpareMeter(ports: SparePorts): SpareMeter {
  const { allocatable, arePodsKnown, isPolicyKnown, previousStatus, clock } = ports;
  let state: SpareState | undefined;
  let latest: { readonly decision: SpareDecision; readonly seen: BySpareKind<SpareObservation> } | undefined;
  let policy: PassResult['policy'] | undefined;
  let pods: { readonly of: PodsOnNode; readonly spare: SparePods } | undefined;
  let measuredAt = -Infinity;
  let shown: { readonly as: string; readonly of: typeof latest; readonly status: SpareStatus } | undefined;

  function measure({ snapshot, policy: inForce }: PassResult, previous: PreviousStatus): void {
    const amounts = allocatable();
    const isReadable = snapshot.pods.unreadable.length === 0;
    // A pod that is not counted could be ended by the amount that is published.
    if (amounts === undefined || !arePodsKnown() || !isReadable) return;
    const spare = pods?.of === snapshot.pods ? pods.spare : sparePodsOf(snapshot.pods);
    pods = { of: snapshot.pods, spare };
    const seen = observeSpare(snapshot, inForce, spare, amounts);
    if (seen === undefined) return;
    state ??= restoreSpareState(writtenSpare(previous, offset(), snapshot.now), snapshot.now);
    const decision = decideSpare(state, seen, inForce.spare, snapshot.now);
    state = decision.state;
    latest = { decision, seen };
    measuredAt = snapshot.now;
  }

  const startedAt = clock.monotonic();
  const isBlind = (): boolean => clock.monotonic() - Math.max(measuredAt, startedAt) > BLIND_MS;
  const offset = (): number => clock.now() - clock.monotonic();

  return {
    passed: (result) => {
      // Until then a pass decides by a policy that may be none, which would take an earlier report, and its history, away.
      if (!isPolicyKnown()) return;
      const previous = previousStatus();
      policy = result.policy;
      if (policy.spare.mode === 'Disabled') [state, latest, pods] = [undefined, undefined, undefined];
      else if (previous !== undefined && isDue(result.snapshot)) measure(result, previous);
    },
    isUnwanted: () => isPolicyKnown() && (policy?.spare.mode === 'Disabled' || (latest === undefined && isBlind())),
    status: () => {
      if (latest === undefined || policy === undefined) return undefined;
      const as = [policy.mode, policy.spare.mode, isBlind()].join(' ');
      // Between two measurements nothing is computed again, the digest least of all.
      if (shown?.of !== latest || shown.as !== as) shown = { as, of: latest, status: statusNow(latest, policy) };
      return shown.status;
    },
  };

  function statusNow({ decision, seen }: NonNullable<typeof latest>, inForce: PassResult['policy']): SpareStatus {
    const status = spareStatus(decision, seen, inForce, offset());
    return isBlind() ? { ...status, mode: 'DryRun' } : status;
  }

  /** Pods that come and go count at once. */
  function isDue({ now, pods: current }: PassResult['snapshot']): boolean {
    return now - measuredAt >= PERIOD_MS || pods?.of !== current;
  }
}
