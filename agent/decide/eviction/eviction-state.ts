import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Mode } from '#shared/api/node-pressure-policy/mode.ts';
import type { PastEviction } from './eviction-windows.ts';
import type { InflightEviction } from './inflight-eviction.ts';

/** A pause for a pod, or all pods of an owner, after an attempt to evict failed. */
export interface Pause {
  readonly until: Instant;
  readonly attempts: number;
  readonly because: Because;
}

/** The evictions of one mode and their outcomes. */
export interface EvictionState {
  readonly inflight: readonly InflightEviction[];
  readonly past: readonly PastEviction[];
  /** By UID of a pod, or by owner as `namespace/Kind/name`. */
  readonly pauses: ReadonlyMap<string, Pause>;
  /** No attempt before this time, because the API server or a budget has just refused one. */
  readonly nextAttemptAt: Instant;
  /** Attempts in a row that the API server left without a clear answer. */
  readonly failures: number;
  /** The pod whose eviction failed last and left it unharmed. */
  readonly failedUid: string | undefined;
}

/** Evictions by mode: an enforced one never depends on a dry-run one. */
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

/** The evictions that a decision in a mode considers: Enforce only enforced ones, DryRun both. */
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

/** `evictions` with those of one mode replaced. */
export function withEvictions(
  evictions: EvictionsByMode,
  mode: Mode,
  change: (state: EvictionState) => EvictionState,
): EvictionsByMode {
  return { ...evictions, [mode]: change(evictions[mode]) };
}
