import type { Clock } from '#shared/runtime/clock.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import type { Mode } from '#shared/api/node-pressure-policy/mode.ts';
import type { AttemptEviction } from './act/attempt-eviction.ts';
import type { ReadFresh } from './act/read-fresh.ts';
import { type AttemptOutcome, isUnclear } from './decide/apply-outcome.ts';
import type { Eviction } from './decide/eviction.ts';
import type { Attempt } from './decide/pass-result.ts';
import { abortReason } from './decide/preflight.ts';
import type { NodeSource } from './observe/node/node-source.ts';

/** What an attempt reads and writes. */
export interface AttemptPorts {
  readonly source: Pick<NodeSource, 'readNode'>;
  readonly policy: () => AgentPolicy;
  readonly readFresh: ReadFresh;
  readonly attempt: Readonly<Record<Mode, AttemptEviction>>;
  readonly readAgain: AttemptEviction;
  /** Called when an eviction is decided, before a request is sent. */
  readonly requested: (eviction: Eviction) => void;
  /** Called with the outcome of every attempt. */
  readonly answered: (attempt: Attempt) => void;
  readonly clock: Clock;
}

/** The evictions that are being carried out. */
export interface Attempts {
  /** Starts one; the preflight check runs before the request. */
  readonly start: (eviction: Eviction, signal: AbortSignal) => void;
  /** Resolves when every attempt that was started has finished. */
  readonly settled: () => Promise<void>;
}

/** `fold` is called with each outcome, before it is reported. */
export function createAttempts(
  ports: AttemptPorts,
  fold: (eviction: Eviction, outcome: AttemptOutcome) => void,
): Attempts {
  const underWay = new Set<Promise<void>>();

  function answer(eviction: Eviction, outcome: AttemptOutcome): void {
    fold(eviction, outcome);
    ports.answered({ eviction, outcome });
  }

  async function carryOut(eviction: Eviction, signal: AbortSignal): Promise<void> {
    const outcome = (await recheck(ports, eviction, signal)) ?? (await ports.attempt[eviction.mode](eviction, signal));
    answer(eviction, outcome);
    if (isUnclear(outcome)) answer(eviction, await ports.readAgain(eviction, signal));
  }

  function start(eviction: Eviction, signal: AbortSignal): void {
    ports.requested(eviction);
    const attempt = carryOut(eviction, signal).finally(() => underWay.delete(attempt));
    underWay.add(attempt);
  }

  return {
    start,
    settled: async () => {
      await Promise.all(underWay);
    },
  };
}

async function recheck(
  { readFresh, source, clock, policy }: AttemptPorts,
  eviction: Eviction,
  signal: AbortSignal,
): Promise<AttemptOutcome | undefined> {
  const fresh = await readFresh(eviction.pod, signal);
  return abortReason(eviction, { fresh, view: source.readNode(clock.monotonic()) }, policy());
}
