import type { Because } from '#shared/domain/base/because.ts';
import { REASONS } from '#agent/messages.ts';

/** State of the process that decides whether it may act. Times are monotonic milliseconds. */
export interface AgentReadiness {
  readonly nowMs: number;
  readonly startedAtMs: number;
  readonly warmUpMs: number;
  readonly arePodsSynced: boolean;
  /** Whether the policies of the cluster have been read. */
  readonly arePoliciesRead: boolean;
  /** Whether the evictions of a previous process on this node have been read. */
  readonly isHistoryKnown: boolean;
  /** When the API server last answered a request or sent something on a watch. */
  readonly lastContactMs: number | undefined;
}

/** After a longer silence the watched pods may be outdated. A watch reopens after 90 s in which it received nothing. */
const MAX_SILENCE_MS = 120_000;

/** Whether the API server has been silent for too long; not before the first contact. */
export function isSilent(nowMs: number, lastContactMs: number | undefined): boolean {
  return lastContactMs !== undefined && nowMs - lastContactMs > MAX_SILENCE_MS;
}

function warmingUp({ nowMs, startedAtMs, warmUpMs }: AgentReadiness): Because | undefined {
  const leftMs = startedAtMs + warmUpMs - nowMs;
  if (leftMs <= 0) return undefined;
  const seconds = Math.ceil(leftMs / 1000);
  return REASONS.warmingUp({ seconds }, { seconds });
}

function podsUnknown({ arePodsSynced }: AgentReadiness): Because | undefined {
  return arePodsSynced ? undefined : REASONS.podsUnknown({});
}

function policiesUnknown({ arePoliciesRead }: AgentReadiness): Because | undefined {
  return arePoliciesRead ? undefined : REASONS.policiesUnknown({});
}

function historyUnknown({ isHistoryKnown }: AgentReadiness): Because | undefined {
  return isHistoryKnown ? undefined : REASONS.historyUnknown({});
}

function silent({ nowMs, lastContactMs }: AgentReadiness): Because | undefined {
  if (lastContactMs === undefined || !isSilent(nowMs, lastContactMs)) return undefined;
  const seconds = Math.round((nowMs - lastContactMs) / 1000);
  return REASONS.apiServerSilent({ seconds }, { seconds });
}

/** Reasons to observe without acting. */
export function readinessGates(condition: AgentReadiness): readonly Because[] {
  const reasons = [warmingUp, podsUnknown, policiesUnknown, historyUnknown, silent];
  return reasons.map((reason) => reason(condition)).filter((each) => each !== undefined);
}
