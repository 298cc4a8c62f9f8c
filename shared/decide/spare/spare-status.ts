import { DAY_MS } from '#shared/domain/base/durations.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { BySpareKind, SpareKind } from '#shared/domain/spare/spare-resources.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import type { SpareEntry, SpareStatus } from '#shared/api/spare-status.ts';
import { encodeDigest, type WrittenSpare } from './digest.ts';
import { percentileOf } from './histogram.ts';
import type { SpareObservation } from './lendable.ts';
import type { SpareDecision } from './spare.ts';

/** `status.spare` of a NodePressure; `wallOffsetMs` makes wall time of a monotonic one. */
export function spareStatus(
  decision: SpareDecision,
  seen: BySpareKind<SpareObservation>,
  policy: Pick<AgentPolicy, 'mode' | 'spare'>,
  wallOffsetMs: number,
): SpareStatus {
  const isEnforced = policy.mode === 'Enforce' && policy.spare.mode === 'Enforce';
  return {
    mode: isEnforced ? 'Enforce' : 'DryRun',
    since: decision.state.memory.history.since + wallOffsetMs,
    memory: entryOf('memory', decision, seen.memory),
    cpu: entryOf('cpu', decision, seen.cpu),
    digest: encodeDigest(decision.state),
  };
}

function entryOf(
  kind: SpareKind,
  { state, lendable }: SpareDecision,
  { capacity, used, requested, spare }: SpareObservation,
): SpareEntry {
  const amountAt = (percent: number): number => Math.round(percentileOf(state[kind].history.used, percent) * capacity);
  return {
    requested: reportable(Math.round(requested)),
    used: Math.round(used),
    median: amountAt(50),
    p99: amountAt(99),
    highest: amountAt(100),
    taken: reportable(Math.ceil(spare.requested)),
    lendable: lendable[kind].lendable,
    lent: reportable(Math.ceil(state.published[kind])),
    because: lendable[kind].because,
  };
}

/** Pods that are bound by hand may request any amount; one too large for its field would end all reports of the node. */
function reportable(amount: number): number {
  return Math.min(amount, Number.MAX_SAFE_INTEGER);
}

/** A report that is older than this says nothing about the node of now. */
const MAX_AGE_MS = DAY_MS;

/** What an earlier process wrote, in the monotonic time of this one; `undefined` if there is nothing to go on with. */
export function writtenSpare(
  { spare, observedAt }: { readonly spare?: SpareStatus | undefined; readonly observedAt?: Instant | undefined },
  wallOffsetMs: number,
  now: Instant,
): WrittenSpare | undefined {
  if (spare?.since === undefined || observedAt === undefined) return undefined;
  const at = observedAt - wallOffsetMs;
  if (now - at > MAX_AGE_MS) return undefined;
  const lent = { memory: spare.memory.lent, cpu: spare.cpu.lent };
  return { digest: spare.digest, since: spare.since - wallOffsetMs, at, lent };
}
