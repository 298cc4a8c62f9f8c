import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/model/pod.ts';
import type { Mode } from '#agent/policy/mode.ts';
import type { PastEviction } from './eviction-windows.ts';
import type { InflightEviction } from './inflight-eviction.ts';

/** A pod, or all pods of an owner, left alone for a while because an attempt to evict came to nothing. */
export interface Pause {
  readonly until: Instant;
  readonly attempts: number;
  readonly because: Because;
}

/** What was done in one mode, and what came of it. */
export interface EvictionState {
  readonly inflight: readonly InflightEviction[];
  readonly past: readonly PastEviction[];
  /** By UID of a pod, or by owner as `namespace/Kind/name`. */
  readonly pauses: ReadonlyMap<string, Pause>;
  /** No attempt before this time: the API server or a budget said no a moment ago. */
  readonly nextAttemptAt: Instant;
  /** Attempts in a row that the API server left without a clear answer. */
  readonly failures: number;
  /** The pod whose eviction failed last and left it unharmed. */
  readonly failedUid: string | undefined;
}

/** Evictions by mode: one that was only pretended is nothing that a real one depends on. */
export type EvictionsByMode = Readonly<Record<Mode, EvictionState>>;

const NOTHING_DONE: EvictionState = {
  inflight: [],
  past: [],
  pauses: new Map(),
  nextAttemptAt: 0,
  failures: 0,
  failedUid: undefined,
};

export const NO_EVICTIONS: EvictionsByMode = { Enforce: NOTHING_DONE, DryRun: NOTHING_DONE };

/** What a decision in a mode takes into account: enforcing what was really done, a dry run both. */
export function evictionsFor(mode: Mode, { Enforce: real, DryRun: pretended }: EvictionsByMode): EvictionState {
  if (mode === 'Enforce') return real;
  return {
    inflight: [...real.inflight, ...pretended.inflight],
    past: [...real.past, ...pretended.past],
    pauses: new Map([...real.pauses, ...pretended.pauses]),
    nextAttemptAt: Math.max(real.nextAttemptAt, pretended.nextAttemptAt),
    failures: pretended.failures,
    failedUid: pretended.failedUid,
  };
}

/** The same with one mode's evictions replaced. */
export function withEvictions(
  evictions: EvictionsByMode,
  mode: Mode,
  change: (state: EvictionState) => EvictionState,
): EvictionsByMode {
  return { ...evictions, [mode]: change(evictions[mode]) };
}
