import type { Steps } from '#shared/domain/model/steps.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import type { Exhausted } from '#shared/runtime/turns/work-turns.ts';
import type { Asked } from './extender-listener.ts';

/** Why a request is answered without a decision, or by protection alone. */
export type Undecided = 'Unsynced' | 'Overloaded' | 'Stale' | 'TooMuchWork';

/** What a request was answered with. */
export type VerbOutcome<T> = { readonly decided: T } | { readonly undecided: Undecided };

/** Decides a request in steps, unless it cannot be decided or takes too much work or time. Counts each that is not. */
export type DecideOr = <T>(verb: VerbName, asked: ReadRequest, decision: Steps<T>) => Steps<VerbOutcome<T>>;

/** A request whose body was read. */
export interface ReadRequest extends Asked {
  /** The pod takes too much work to be read as a whole, and without it nothing can be decided. */
  readonly isUnreadPod?: boolean;
}

/** What the extender knows about its copy of the cluster. */
export interface ViewState {
  /** Kinds that have not been read yet; until there are none, nothing is decided. */
  readonly missing: () => readonly string[];
  /** Whether the API server has been silent for too long about pods or nodes. */
  readonly isStale: () => boolean;
}

/** What kube-scheduler may ask. */
export type VerbName = 'preempt' | 'filter' | 'prioritize';

const REASONS: Readonly<Record<VerbName, readonly Undecided[]>> = {
  preempt: ['Unsynced', 'Overloaded', 'Stale', 'TooMuchWork'],
  filter: ['Unsynced', 'Overloaded', 'TooMuchWork'],
  prioritize: ['Unsynced', 'Overloaded', 'TooMuchWork'],
};

const BY_EXHAUSTED: Readonly<Record<Exhausted, Undecided>> = { work: 'TooMuchWork', wait: 'Overloaded' };

/** Decides, and counts by verb and reason what is not decided. */
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

/** By a stale view of pods nodes are still judged: by NodePressures, which carry their own times. */
function reasonFor(verb: VerbName, asked: ReadRequest, { missing, isStale }: ViewState): Undecided | undefined {
  if (missing().length > 0) return 'Unsynced';
  if (asked.isOverloaded) return 'Overloaded';
  if (asked.isUnreadPod === true) return 'TooMuchWork';
  return verb === 'preempt' && isStale() ? 'Stale' : undefined;
}

function* untilExhausted<T>({ exhausted }: Asked, decision: Steps<T>): Steps<VerbOutcome<T>> {
  for (;;) {
    const step = decision.next();
    if (step.done === true) return { decided: step.value };
    yield;
    const why = exhausted();
    if (why !== undefined) return { undecided: BY_EXHAUSTED[why] };
  }
}
