import type { Metrics } from '#shared/runtime/metrics.ts';

/** Why a request is answered without a decision. */
export type Undecided = 'Unsynced' | 'Overloaded' | 'Stale';

/** `undefined` where a request can be decided. Counts each that cannot. */
export type WhyUndecided = (verb: string, isOverloaded: boolean) => Undecided | undefined;

/** What the extender knows about its copy of the cluster. */
export interface ViewState {
  /** Kinds that have not been read yet; until there are none, nothing is decided. */
  readonly missing: () => readonly string[];
  /** Whether the API server has been silent for too long about pods or nodes. */
  readonly isStale: () => boolean;
}

/** Says and counts why requests are not decided. */
export function countUndecided(view: ViewState, metrics: Metrics): WhyUndecided {
  const undecided = metrics.counter(
    'plimsoll_extender_undecided_total',
    'Requests of kube-scheduler that were answered without a decision: the cluster was not read yet, its watches stalled, or too many at once',
    ['verb', 'reason'],
  );
  return (verb, isOverloaded) => {
    const reason = reasonFor(verb, isOverloaded, view);
    if (reason !== undefined) undecided.add({ verb, reason });
    return reason;
  };
}

/** By a stale view of pods nodes are still judged: by NodePressures, which carry their own times. */
function reasonFor(verb: string, isOverloaded: boolean, { missing, isStale }: ViewState): Undecided | undefined {
  if (missing().length > 0) return 'Unsynced';
  if (isOverloaded) return 'Overloaded';
  return verb === 'preempt' && isStale() ? 'Stale' : undefined;
}
