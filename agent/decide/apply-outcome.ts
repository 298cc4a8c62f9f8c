import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/model/pod.ts';
import type { EvictionOutcome } from '#shared/kube/evict-pod.ts';
import type { AgentState, Pause } from './agent-state.ts';
import type { InflightEviction } from './inflight-eviction.ts';

/**
 * What became of one attempt. Beside the API server's answers: `pretended` (a dry run), `overtaken` (the pod changed
 * before anything was sent), `relieved` (the node has recovered), `unconfirmed` (that could not be found out), and what a second look found after an answer that left it open.
 */
export type AttemptOutcome =
  | EvictionOutcome
  | { readonly kind: 'pretended' }
  | { readonly kind: 'overtaken' | 'relieved' | 'unconfirmed'; readonly message: string }
  | { readonly kind: 'foundEnding' | 'foundGone' | 'foundUnharmed' };

const SECOND = 1000;
/** After any refusal the next candidate is tried at most once in this time. */
const BETWEEN_ATTEMPTS_MS = SECOND;
const TROUBLE_PAUSE_MS = 10 * SECOND;
const FIRST_PAUSE_MS = 10 * SECOND;
const LONGEST_PAUSE_MS = 300 * SECOND;
/** A refusal by rights or validation will not change soon (F-30). */
const REFUSED_PAUSE_MS = 600 * SECOND;

type Consequence = 'taken' | 'pretended' | 'unclear' | 'over' | 'changed' | 'refused' | 'troubled' | 'tooMany';

const CONSEQUENCES: Readonly<Record<AttemptOutcome['kind'], Consequence>> = {
  evicted: 'taken',
  foundEnding: 'taken',
  pretended: 'pretended',
  serverError: 'unclear',
  unreachable: 'unclear',
  timeout: 'unclear',
  notFound: 'over',
  uidMismatch: 'over',
  overtaken: 'changed',
  relieved: 'over',
  unconfirmed: 'troubled',
  foundGone: 'over',
  forbidden: 'refused',
  unauthorized: 'troubled',
  invalid: 'refused',
  severalBudgets: 'refused',
  foundUnharmed: 'troubled',
  tooManyRequests: 'tooMany',
};

/** Whether the answer leaves open what happened, so that the pod must be read again before anything else (F-30). */
export function isUnclear(outcome: AttemptOutcome): boolean {
  return CONSEQUENCES[outcome.kind] === 'unclear';
}

/** Folds one outcome into the memory; an outcome for a flight that is not there changes nothing. */
export function applyOutcome(state: AgentState, uid: string, outcome: AttemptOutcome, now: Instant): AgentState {
  const flight = state.flights.find((each) => each.uid === uid);
  if (flight === undefined) return state;
  switch (CONSEQUENCES[outcome.kind]) {
    case 'taken':
      return remember(moveTo(state, flight, 'ending'), flight, now);
    case 'pretended':
      return remember(moveTo(state, flight, 'pretended'), flight, now);
    case 'unclear':
      return { ...moveTo(state, flight, 'unknown'), nextAttemptAt: now + BETWEEN_ATTEMPTS_MS };
    case 'over':
      return { ...land(state, flight), nextAttemptAt: now + BETWEEN_ATTEMPTS_MS };
    // The server is in trouble, not this pod: nobody else may go in its stead.
    case 'troubled':
      return { ...land(state, flight), nextAttemptAt: now + TROUBLE_PAUSE_MS };
    case 'changed':
    case 'refused':
      return pause(state, flight, restAfter(outcome), now);
    case 'tooMany':
      return afterTooMany(state, flight, outcome, now);
  }
}

function messageOf(outcome: AttemptOutcome): string {
  return 'message' in outcome ? outcome.message : outcome.kind;
}

function moveTo(state: AgentState, flight: InflightEviction, phase: InflightEviction['phase']): AgentState {
  return { ...state, flights: state.flights.map((each) => (each === flight ? { ...each, phase } : each)) };
}

function land(state: AgentState, flight: InflightEviction): AgentState {
  return { ...state, flights: state.flights.filter((each) => each !== flight) };
}

function remember(state: AgentState, { namespace, owner }: InflightEviction, now: Instant): AgentState {
  return { ...state, past: [...state.past, { at: now, namespace, owner }] };
}

interface Rest {
  readonly code: string;
  readonly text: string;
  /** `undefined`: longer from time to time. */
  readonly ms: number | undefined;
}

function restAfter(outcome: AttemptOutcome): Rest {
  // The watch, or the time to live of a label, has not caught up yet: somebody else may go meanwhile.
  if (outcome.kind === 'overtaken') return { code: 'Changed', text: outcome.message, ms: undefined };
  return { code: 'Refused', text: `refused: ${messageOf(outcome)}`, ms: REFUSED_PAUSE_MS };
}

function pause(state: AgentState, flight: InflightEviction, { code, text, ms }: Rest, now: Instant): AgentState {
  const attempts = (state.pauses.get(flight.uid)?.attempts ?? 0) + 1;
  const growing = Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), LONGEST_PAUSE_MS);
  const because: Because = { code, text, facts: { attempts } };
  const resting: Pause = { until: now + (ms ?? growing), attempts, because };
  return {
    ...land(state, flight),
    pauses: new Map([...state.pauses, [flight.uid, resting]]),
    nextAttemptAt: now + BETWEEN_ATTEMPTS_MS,
  };
}

/** A spent budget concerns this pod; a busy server concerns every request. */
function afterTooMany(state: AgentState, flight: InflightEviction, outcome: AttemptOutcome, now: Instant): AgentState {
  if (outcome.kind !== 'tooManyRequests') return state;
  const asked = outcome.retryAfterSeconds === undefined ? undefined : outcome.retryAfterSeconds * SECOND;
  if (outcome.cause === 'budget') {
    return pause(
      state,
      flight,
      { code: 'BudgetSpent', text: `its budget is spent: ${outcome.message}`, ms: asked },
      now,
    );
  }
  return { ...land(state, flight), nextAttemptAt: now + (asked ?? TROUBLE_PAUSE_MS) };
}
