import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { contenderOf, type Displacement } from './displacement.ts';

/** A preempted pod whose preemptor is not known yet. */
export interface PreemptedPod {
  readonly pod: Pod;
  readonly node: string;
  readonly priority: number;
  readonly at: Instant;
}

/** A pending pod that a scheduler nominated to a node. */
export interface NominatedPod {
  readonly pod: Pod;
  readonly priority: number;
}

/** Victims that wait for their preemptor, and those for which it was found. */
export interface Attribution {
  readonly waiting: readonly PreemptedPod[];
  readonly found: readonly Displacement[];
}

/** kube-scheduler deletes victims and nominates the preemptor at the same time, so either can be seen first. */
const NOMINATED_WITHIN_MS = 10_000;
const MOST_WAITING = 1_000;

/**
 * Finds the preemptor of each victim: the pod of higher priority that was nominated to its node last. A victim names its
 * scheduler only, so of several nominated pods the wrong one may be chosen. A victim without one is given up after ten
 * seconds.
 */
export function attributeVictims(
  victims: readonly PreemptedPod[],
  nominatedTo: (node: string) => readonly NominatedPod[],
  now: Instant,
): Attribution {
  const recent = victims.filter(({ at }) => Math.abs(now - at) <= NOMINATED_WITHIN_MS);
  const judged = recent.map((victim) => ({ victim, displacement: displacementOf(victim, nominatedTo(victim.node)) }));
  return {
    waiting: judged
      .flatMap(({ victim, displacement }) => (displacement === undefined ? [victim] : []))
      .slice(-MOST_WAITING),
    found: judged.flatMap(({ displacement }) => displacement ?? []),
  };
}

function displacementOf(victim: PreemptedPod, nominated: readonly NominatedPod[]): Displacement | undefined {
  const preemptor = nominated.findLast(({ priority }) => priority > victim.priority);
  if (preemptor === undefined) return undefined;
  const { pod, node, at } = victim;
  return { at, node, preemptor: contenderOf(preemptor.pod), priority: preemptor.priority, victim: contenderOf(pod) };
}
