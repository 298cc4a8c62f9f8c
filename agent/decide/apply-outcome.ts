import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/model/pod.ts';
import { resourceOf } from '#shared/domain/pressure/signal.ts';
import type { EvictionOutcome } from '#shared/kube/evict-pod.ts';
import type { AgentState } from './agent-state.ts';
import { type EvictionState, type Pause, withEvictions } from './eviction/eviction-state.ts';
import type { InflightEviction, Stage } from './eviction/inflight-eviction.ts';

/**
 * What became of one attempt. Beside the API server's answers: `pretended` (a dry run), `overtaken` (the pod changed
 * before anything was sent), `relieved` (the node has recovered), `disarmed` (the mode is DryRun by now), `unconfirmed`
 * (the API server did not tell how the pod is), `unreadable` (what it told of the pod cannot be read), and what a second
 * look found after an answer that left it open.
 */
export type AttemptOutcome =
  | EvictionOutcome
  | { readonly kind: 'pretended' }
  | { readonly kind: 'overtaken' | 'relieved' | 'disarmed' | 'unreadable'; readonly message: string }
  | { readonly kind: 'unconfirmed'; readonly message: string; readonly retryAfterSeconds?: number | undefined }
  | { readonly kind: 'foundEnding' | 'foundGone' | 'foundUnharmed' };

const SECOND = 1000;
/** After any refusal the next candidate is tried at most once in this time. */
const BETWEEN_ATTEMPTS_MS: Readonly<Record<Stage, Instant>> = { mild: SECOND, severe: 100 };
const TROUBLE_PAUSE_MS = 10 * SECOND;
/** The longest pause after a request that the API server left undone: where pods are about to be killed it is found back soon. */
const UNDONE_PAUSE_MS: Readonly<Record<Stage, Instant>> = { mild: TROUBLE_PAUSE_MS, severe: 2 * SECOND };
/** What asks to be left alone for longer is not believed: a shortage lasts minutes. */
const LONGEST_RETRY_AFTER_MS = 60 * SECOND;
const FIRST_PAUSE_MS = 10 * SECOND;
/** Of a pod whose eviction fails: where pods are about to be killed it is asked again before that, after another pod. */
const FIRST_FAILED_PAUSE_MS: Readonly<Record<Stage, Instant>> = { mild: FIRST_PAUSE_MS, severe: 2 * SECOND };
/** The same pod twice. */
const FAILURES_WITHOUT_WAIT = 2;
const LONGEST_PAUSE_MS = 300 * SECOND;
/** A refusal by rights or validation will not change soon (F-30). */
const REFUSED_PAUSE_MS = 600 * SECOND;

/** How one answer is folded into what is remembered. */
type Fold = (answered: Answered, outcome: AttemptOutcome) => EvictionState;

const taken: Fold = (answered) => remember(moveTo(answered, 'ending'), answered.inflight, answered.now);
const refused: Fold = (answered, outcome) => ({ ...pause(answered, pauseAfter(outcome)), failures: 0 });

const FOLDS: Readonly<Record<AttemptOutcome['kind'], Fold>> = {
  evicted: taken,
  foundEnding: taken,
  pretended: (answered) => remember(moveTo(answered, 'pretended'), answered.inflight, answered.now),
  serverError: unclear,
  unreachable: unclear,
  timeout: unclear,
  notFound: over,
  uidMismatch: over,
  foundGone: over,
  relieved: over,
  disarmed: over,
  overtaken: refused,
  unreadable: refused,
  forbidden: refused,
  invalid: refused,
  severalBudgets: refused,
  unauthorized: (answered) => ({ ...close(answered), nextAttemptAt: answered.now + TROUBLE_PAUSE_MS }),
  unconfirmed: (answered, outcome) =>
    troubled(answered, outcome.kind === 'unconfirmed' ? outcome.retryAfterSeconds : undefined),
  foundUnharmed: failed,
  tooManyRequests: afterTooMany,
};

/** Whether the answer leaves open what happened, so that the pod must be read again before anything else (F-30). */
export function isUnclear(outcome: AttemptOutcome): boolean {
  return FOLDS[outcome.kind] === unclear;
}

/** Folds one outcome into the memory; an outcome for an eviction that is not there changes nothing. */
export function applyOutcome(
  state: AgentState,
  { uid, mode }: Pick<InflightEviction, 'uid' | 'mode'>,
  outcome: AttemptOutcome,
  now: Instant,
): AgentState {
  const evictions = withEvictions(state.evictions, mode, (own) => {
    const inflight = own.inflight.find((each) => each.uid === uid);
    return inflight === undefined ? own : FOLDS[outcome.kind]({ own, inflight, now }, outcome);
  });
  return { ...state, evictions };
}

/** One eviction among those of its mode, at the moment of its answer. */
interface Answered {
  readonly own: EvictionState;
  readonly inflight: InflightEviction;
  readonly now: Instant;
}

function over(answered: Answered): EvictionState {
  const { inflight, now } = answered;
  return { ...close(answered), failures: 0, nextAttemptAt: now + BETWEEN_ATTEMPTS_MS[inflight.stage] };
}

function messageOf(outcome: AttemptOutcome): string {
  return 'message' in outcome ? outcome.message : outcome.kind;
}

function moveTo({ own, inflight }: Answered, phase: InflightEviction['phase']): EvictionState {
  return { ...own, inflight: own.inflight.map((each) => (each === inflight ? { ...each, phase } : each)) };
}

/** The eviction is over, except where the pod ends already and was only asked to do so sooner. */
function close({ own, inflight }: Answered): EvictionState {
  const left: readonly InflightEviction[] = inflight.isShortened ? [{ ...inflight, phase: 'ending' }] : [];
  return { ...own, inflight: own.inflight.flatMap((each) => (each === inflight ? left : [each])) };
}

/** A pod that is asked to end sooner was counted when it was asked first. */
function remember(
  own: EvictionState,
  { uid, namespace, owner, signal, isShortened }: InflightEviction,
  now: Instant,
): EvictionState {
  if (isShortened) return { ...own, failures: 0 };
  const one = { at: now, uid, namespace, owner, resource: resourceOf(signal) };
  return { ...own, failures: 0, past: [...own.past, one] };
}

interface PauseSpec {
  readonly code: string;
  readonly text: string;
  /** `undefined`: longer from time to time, beginning with `firstMs`. */
  readonly ms: number | undefined;
  readonly firstMs?: number;
  /** Whether the other pods of its owner rest as well. */
  readonly isForOwner?: boolean;
}

function pauseAfter(outcome: AttemptOutcome): PauseSpec {
  // The watch, or the time to live of a label, has not caught up yet: another pod may go meanwhile.
  const hasChanged = outcome.kind === 'overtaken' || outcome.kind === 'unreadable';
  if (hasChanged) return { code: 'Changed', text: messageOf(outcome), ms: undefined };
  return { code: 'Refused', text: `refused: ${messageOf(outcome)}`, ms: REFUSED_PAUSE_MS };
}

function pause(answered: Answered, rest: PauseSpec): EvictionState {
  const { own, inflight, now } = answered;
  const attempts = (own.pauses.get(inflight.uid)?.attempts ?? 0) + 1;
  const growing = Math.min((rest.firstMs ?? FIRST_PAUSE_MS) * 2 ** (attempts - 1), LONGEST_PAUSE_MS);
  const because: Because = { code: rest.code, text: rest.text, facts: { attempts } };
  const resting: Pause = { until: now + (rest.ms ?? growing), attempts, because };
  const keys =
    rest.isForOwner === true && inflight.owner !== undefined ? [inflight.uid, inflight.owner] : [inflight.uid];
  return {
    ...close(answered),
    pauses: new Map([...own.pauses, ...keys.map((key) => [key, resting] as const)]),
    nextAttemptAt: now + BETWEEN_ATTEMPTS_MS[inflight.stage],
  };
}

/** Nothing else happens until the pod has been read again (F-30). */
function unclear(answered: Answered): EvictionState {
  const { inflight, now } = answered;
  return { ...moveTo(answered, 'unknown'), nextAttemptAt: now + BETWEEN_ATTEMPTS_MS[inflight.stage] };
}

/**
 * The API server answers again and the pod was found unharmed. It may have been in trouble for a moment, and no other
 * pod goes for that. A pod whose eviction fails twice, as where a webhook of another project stops it, is left alone, and
 * the next may go.
 */
function failed(answered: Answered): EvictionState {
  const { own, inflight } = answered;
  const after = own.failedUid === inflight.uid ? failedAlone(answered) : troubled(answered, undefined);
  return { ...after, failedUid: inflight.uid };
}

/** When evictions of one pod after the other fail, the server is in trouble after all. */
function failedAlone(answered: Answered): EvictionState {
  const { own, inflight, now } = answered;
  const failures = own.failures + 1;
  const paused = pause(answered, {
    code: 'Failed',
    text: 'its eviction failed, and it was found unharmed',
    ms: undefined,
    firstMs: FIRST_FAILED_PAUSE_MS[inflight.stage],
  });
  const tooMany = failures - FAILURES_WITHOUT_WAIT;
  const waitMs = tooMany <= 0 ? 0 : Math.min(SECOND * 2 ** (tooMany - 1), TROUBLE_PAUSE_MS);
  return { ...paused, failures, nextAttemptAt: Math.max(paused.nextAttemptAt, now + waitMs) };
}

/** The API server is in trouble, and nothing was done: the same may be tried again soon, or when it says. */
function troubled(answered: Answered, retryAfterSeconds: number | undefined): EvictionState {
  const { own, inflight, now } = answered;
  const growing = Math.min(BETWEEN_ATTEMPTS_MS[inflight.stage] * 2 ** own.failures, UNDONE_PAUSE_MS[inflight.stage]);
  const waitMs = retryAfterMs(retryAfterSeconds) ?? growing;
  return { ...close(answered), failures: own.failures + 1, nextAttemptAt: now + waitMs };
}

function retryAfterMs(seconds: number | undefined): Instant | undefined {
  return seconds === undefined ? undefined : Math.min(seconds * SECOND, LONGEST_RETRY_AFTER_MS);
}

/** A spent budget concerns this pod and the others of its owner; a busy server concerns every request. */
function afterTooMany(answered: Answered, outcome: AttemptOutcome): EvictionState {
  if (outcome.kind !== 'tooManyRequests') return answered.own;
  if (outcome.cause === 'throttled') return troubled(answered, outcome.retryAfterSeconds);
  const ms = retryAfterMs(outcome.retryAfterSeconds);
  const text = `its budget is spent: ${outcome.message}`;
  return { ...pause(answered, { code: 'BudgetSpent', text, ms, isForOwner: true }), failures: 0 };
}
