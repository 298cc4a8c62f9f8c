import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { StarvedResource } from '#shared/domain/pressure/signal.ts';
import type { Mode } from '#shared/api/node-pressure-policy/mode.ts';
import type { PastEviction } from './eviction-windows.ts';
import type { InflightEviction, Stage } from './inflight-eviction.ts';

/** A pause for a pod, or all pods of an owner, a namespace or a window, after an attempt to evict failed. */
export interface Pause {
  readonly since: Instant;
  readonly until: Instant;
  readonly attempts: number;
  readonly because: Because;
}

/** The evictions of one mode and their outcomes. */
export interface EvictionState {
  readonly inflight: readonly InflightEviction[];
  readonly past: readonly PastEviction[];
  /** By UID of a pod, by owner as `namespace/Kind/name`, or by `namespaceKey` or `windowKey`. */
  readonly pauses: ReadonlyMap<string, Pause>;
  /** No attempt before this time, because the API server or a budget has just refused one. */
  readonly nextAttemptAt: Instant;
  /** When the last attempt was answered. */
  readonly answeredAt: Instant;
  /** Attempts in a row that the API server left without a clear answer. */
  readonly failures: number;
  /** The pod whose eviction failed last and left it unharmed. */
  readonly failedUid: string | undefined;
}

/** In the severe stage nothing waits longer for another attempt than this, whatever asked for a longer pause. */
export const SEVERE_PAUSE_MS = 1000;
/** For so long a pod that was refused in the severe stage gives way to pods that were not tried yet. */
export const SEVERE_TURN_MS = 3000;

/** How long a pause lasts at most in this stage. */
export function longestPause(stage: Stage): Instant {
  return stage === 'severe' ? SEVERE_PAUSE_MS : Infinity;
}

/** The pause under this key if it lasts. */
export function activePause(
  key: string,
  { pauses }: EvictionState,
  { now, longestMs }: { readonly now: Instant; readonly longestMs: Instant },
): Pause | undefined {
  const pause = pauses.get(key);
  return pause !== undefined && now < Math.min(pause.until, pause.since + longestMs) ? pause : undefined;
}

/** The key of the pods of a namespace; no UID and no owner has this form. */
export function namespaceKey(namespace: string): string {
  return `${namespace}/`;
}

/** The key of all evictions for a resource. */
export function windowKey(resource: StarvedResource): string {
  return `/${resource}`;
}

/** Evictions by mode: an enforced one never depends on a dry-run one. */
export type EvictionsByMode = Readonly<Record<Mode, EvictionState>>;

const NOTHING_DONE: EvictionState = {
  inflight: [],
  past: [],
  pauses: new Map(),
  nextAttemptAt: 0,
  answeredAt: 0,
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
    answeredAt: Math.max(real.answeredAt, pretended.answeredAt),
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
