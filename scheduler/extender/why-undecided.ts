import type { Steps } from '#shared/domain/model/steps.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import type { Exhausted } from '#shared/runtime/turns/work-turns.ts';
import type { ExtenderRequest } from './extender-listener.ts';

/** Why a request is answered without a decision, or by protection alone. */
export type Undecided = 'Unsynced' | 'Overloaded' | 'Stale' | 'TooMuchWork';

/** The result of a request. */
export type VerbOutcome<T> = { readonly decided: T } | { readonly undecided: Undecided };

/**
 * Decides a request in steps, unless that is impossible or exceeds the limits of work or time. Counts undecided
 * requests.
 */
export type DecideOr = <T>(verb: VerbName, asked: ReadRequest, decision: Steps<T>) => Steps<VerbOutcome<T>>;

/** A request whose body was read. */
export interface ReadRequest extends ExtenderRequest {
  /** Reading the whole pod takes too much work, and nothing can be decided without it. */
  readonly isUnreadPod?: boolean;
}

/** What the extender knows about its copy of the cluster. */
export interface ViewState {
  /** Kinds that have not been read yet; nothing is decided before all of them are. */
  readonly missing: () => readonly string[];
  /** Whether the API server has been silent for too long about pods or nodes. */
  readonly isStale: () => boolean;
}

/** The verbs that kube-scheduler can call. */
export type VerbName = 'preempt' | 'filter' | 'prioritize';

const REASONS: Readonly<Record<VerbName, readonly Undecided[]>> = {
  preempt: ['Unsynced', 'Overloaded', 'Stale', 'TooMuchWork'],
  filter: ['Unsynced', 'Overloaded', 'TooMuchWork'],
  prioritize: ['Unsynced', 'Overloaded', 'TooMuchWork'],
};

const BY_EXHAUSTED: Readonly<Record<Exhausted, Undecided>> = { work: 'TooMuchWork', wait: 'Overloaded' };

/** Decides requests, and counts undecided ones by verb and reason. */
export function decideOrCount(view: ViewState, metrics: Metrics): DecideOr {
  const undecided = metrics.counter(
    'plimsoll_extender_undecided_total',
    'Requests of kube-scheduler that were answered without a decision: the cluster was not read yet, its watches stalled, too many at once, or too much work; except before the cluster is read, protected victims are still refused',
    ['verb', 'reason'],
  );
  for (const verb of Object.keys(REASONS) as VerbName[])
    for (const reason of REASONS[verb]) undecided.add({ verb, reason }, 0);
  return function* (verb, asked, decision) {
    const reason = reasonFor(verb, asked, view);
    const outcome = reason === undefined ? yield* untilExhausted(asked, decision) : { undecided: reason };
    if ('undecided' in outcome) undecided.add({ verb, reason: outcome.undecided });
    return outcome;
  };
}

/** Nodes are judged even if the view of pods is stale: NodePressures carry their own times. */
function reasonFor(verb: VerbName, asked: ReadRequest, { missing, isStale }: ViewState): Undecided | undefined {
  if (missing().length > 0) return 'Unsynced';
  if (asked.isOverloaded) return 'Overloaded';
  if (asked.isUnreadPod === true) return 'TooMuchWork';
  return verb === 'preempt' && isStale() ? 'Stale' : undefined;
}

function* untilExhausted<T>({ exhausted }: ExtenderRequest, decision: Steps<T>): Steps<VerbOutcome<T>> {
  for (;;) {
    const step = decision.next();
    if (step.done === true) return { decided: step.value };
    yield;
    const why = exhausted();
    if (why !== undefined) return { undecided: BY_EXHAUSTED[why] };
  }
}
