import { hasCriticalPriority } from '#shared/domain/eviction/protection.ts';
import type { Because } from '#shared/domain/model/because.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import {
  attributeVictims,
  type NominatedPod,
  type PreemptedPod,
} from '#shared/domain/preemption/loop/attribute-victims.ts';
import { contenderOf } from '#shared/domain/preemption/loop/displacement.ts';
import { loopBetween, loopingParties } from '#shared/domain/preemption/loop/find-loop.ts';
import { addDisplacement, type LoopPolicy, NO_ROUNDS } from '#shared/domain/preemption/loop/preemption-rounds.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { LoopsConfiguration } from './loops-configuration.ts';

/** The preemptions between owners that this process has seen. */
export interface PreemptionLoops {
  readonly mode: LoopsConfiguration['mode'];
  /** Takes in a victim, or, without one, a nomination: `nominatedTo` shows who was nominated to a node, the latest last. */
  readonly see: (
    victim: Omit<PreemptedPod, 'at'> | undefined,
    nominatedTo: (node: string) => readonly NominatedPod[],
  ) => void;
  /** Whether any pair of owners is in a loop at this moment. */
  readonly isAny: () => boolean;
  /** Why preempting `victim` for `preemptor` would continue a loop; `undefined` where it would not. */
  readonly between: (victim: Pod, preemptor: Pod) => Because | undefined;
}

/**
 * Counts from the moment it is made, in memory: each replica of the extender sees the same pods. What the cluster itself
 * needs must find room, so a preemptor of system priority is never part of a loop.
 */
export function createPreemptionLoops(
  { mode, rounds: most, windowSeconds }: LoopsConfiguration,
  clock: Pick<Clock, 'monotonic'>,
): PreemptionLoops {
  const policy: LoopPolicy = { rounds: most, windowMs: windowSeconds * 1000 };
  let waiting: readonly PreemptedPod[] = [];
  let rounds = NO_ROUNDS;
  let looping = loopingParties(rounds, policy);
  const isAny = (): boolean => mode !== 'Off' && clock.monotonic() < looping.until;
  return {
    mode,
    see(victim, nominatedTo) {
      const now = clock.monotonic();
      const victims = victim === undefined ? waiting : [...waiting, { ...victim, at: now }];
      const attribution = attributeVictims(victims, nominatedTo, now);
      waiting = attribution.waiting;
      if (attribution.found.length === 0) return;
      rounds = attribution.found.reduce((all, found) => addDisplacement(all, found, policy), rounds);
      looping = loopingParties(rounds, policy);
    },
    isAny,
    between(victim, preemptor) {
      if (!isAny() || hasCriticalPriority(preemptor)) return undefined;
      const sides = { preemptor: contenderOf(preemptor).party, victim: contenderOf(victim).party };
      if (!looping.parties.has(sides.preemptor)) return undefined;
      return loopBetween(rounds, sides, policy, clock.monotonic());
    },
  };
}
