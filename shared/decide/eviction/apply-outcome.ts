import type { Because } from '#shared/domain/base/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { resourceOf } from '#shared/domain/pressure/signal.ts';
import type { EvictionOutcome, LimitScope } from '#shared/kube/events/evict-pod.ts';
import type { AgentState } from './agent-state.ts';
import {
  type EvictionState,
  namespaceKey,
  type Pause,
  windowKey,
  withDenial,
  withEvictions,
} from './history/eviction-state.ts';
import type { InflightEviction, Severity } from './history/inflight-eviction.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';

/**
 * The outcome of one attempt. In addition to the API server's answers: `pretended` (a dry run), `overtaken` (the pod
 * changed before a request was sent), `relieved` (the node has recovered), `disarmed` (the mode has become DryRun),
 * `unconfirmed` (the pod could not be read again), `unreadable` (the pod was read but cannot be decoded), and what
 * reading the pod again found after an unclear answer.
 */
export type AttemptOutcome =
  | EvictionOutcome
  | { readonly kind: 'pretended' }
  | { readonly kind: 'overtaken' | 'relieved' | 'disarmed' | 'unreadable'; readonly message: string }
  | {
      readonly kind: 'unconfirmed';
      readonly message: string;
      /** Whether the API server answered, with an error about this pod or its namespace. */
      readonly isAnswered?: boolean;
      readonly retryAfterSeconds?: number | undefined;
    }
  | { readonly kind: 'foundEnding' | 'foundPreempted' | 'foundGone' | 'foundUnharmed' };

const SECOND = 1000;
/** After a refusal, the next candidate is tried at most once in this time. */
const BETWEEN_ATTEMPTS_MS: Readonly<Record<Severity, Instant>> = { mild: SECOND, severe: 100 };
const TROUBLE_PAUSE_MS = 10 * SECOND;
/** A longer Retry-After is cut to this: a shortage lasts minutes. */
const MAX_RETRY_AFTER_MS = 60 * SECOND;
const FIRST_PAUSE_MS = 10 * SECOND;
/** Failed attempts before the agent pauses. */
const FAILURES_WITHOUT_WAIT = 2;
const MAX_PAUSE_MS = 300 * SECOND;
/** Long enough to move a pod, and to see that it was not moved. */
const DENIED_PAUSE_MS = 60 * SECOND;
/** A refusal by authorization or validation will not change soon. */
const REFUSED_PAUSE_MS = 600 * SECOND;

/** Folds one answer into the state. */
type Fold = (answered: AnsweredEviction, outcome: AttemptOutcome) => EvictionState;

const taken: Fold = (answered) => remember(moveTo(answered, 'ending'), answered.inflight, answered.now);
const refused: Fold = (answered, outcome) => ({ ...pause(answered, pauseAfter(outcome)), failures: 0 });

const FOLDS: Readonly<Record<AttemptOutcome['kind'], Fold>> = {
  evicted: taken,
  foundEnding: taken,
  foundPreempted: (answered) => ({ ...moveTo(answered, 'ending'), failures: 0 }),
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
  unconfirmed: afterUnconfirmed,
  foundUnharmed: failed,
  tooManyRequests: afterTooMany,
};

/** Whether the outcome is unknown, so that the pod must be read again before anything else. */
export function isUnclear(outcome: AttemptOutcome): boolean {
  return FOLDS[outcome.kind] === unclear;
}

/** Folds one outcome into the state; an outcome for an unknown eviction changes nothing. */
export function applyOutcome(
  state: AgentState,
  { uid, mode }: Pick<InflightEviction, 'uid' | 'mode'>,
  outcome: AttemptOutcome,
  now: Instant,
): AgentState {
  const evictions = withEvictions(state.evictions, mode, (own) => {
    const inflight = own.inflight.find((each) => each.uid === uid);
    if (inflight === undefined) return own;
    return { ...FOLDS[outcome.kind]({ own, inflight, now }, outcome), answeredAt: now };
  });
  return { ...state, evictions };
}

/** One eviction and the state of its mode, at the time of the answer. */
interface AnsweredEviction {
  readonly own: EvictionState;
  readonly inflight: InflightEviction;
  readonly now: Instant;
}

function over(answered: AnsweredEviction): EvictionState {
  const { inflight, now } = answered;
  return { ...close(answered), failures: 0, nextAttemptAt: now + BETWEEN_ATTEMPTS_MS[inflight.stage] };
}

function messageOf(outcome: AttemptOutcome): string {
  return 'message' in outcome ? outcome.message : outcome.kind;
}

function moveTo({ own, inflight }: AnsweredEviction, phase: InflightEviction['phase']): EvictionState {
  return { ...own, inflight: own.inflight.map((each) => (each === inflight ? { ...each, phase } : each)) };
}

/** Ends the eviction, unless the pod already terminates and was only asked to do so sooner. */
function close({ own, inflight }: AnsweredEviction): EvictionState {
  const left: readonly InflightEviction[] = inflight.isShortened ? [{ ...inflight, phase: 'ending' }] : [];
  return { ...own, inflight: own.inflight.flatMap((each) => (each === inflight ? left : [each])) };
}

/** A pod that is asked to terminate sooner was counted with the first request. */
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
  readonly because: Because;
  /** `undefined`: grows with each attempt. */
  readonly ms: number | undefined;
  /** What is paused in addition to the pod: the other pods of its owner, a namespace, a window. */
  readonly others?: readonly string[];
  /** The shortest pause, and the shortest in the severe stage. */
  readonly leastMs?: Instant;
  readonly severeMs?: Instant;
}

function pauseAfter(outcome: AttemptOutcome): PauseSpec {
  // The watch or a cached label is outdated: another pod may be evicted in the meantime.
  const hasChanged = outcome.kind === 'overtaken' || outcome.kind === 'unreadable';
  if (hasChanged) return { because: REASONS.changed({ cause: messageOf(outcome) }), ms: undefined };
  return { because: REASONS.refused({ cause: messageOf(outcome) }), ms: REFUSED_PAUSE_MS };
}

function pause(answered: AnsweredEviction, rest: PauseSpec): EvictionState {
  const { own, inflight, now } = answered;
  const attempts = (own.pauses.get(inflight.uid)?.attempts ?? 0) + 1;
  const growing = Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), MAX_PAUSE_MS);
  const because: Because = { ...rest.because, facts: { attempts } };
  const ms = Math.max(rest.ms ?? growing, rest.leastMs ?? 0);
  const severe = rest.severeMs === undefined ? {} : { severeMs: rest.severeMs };
  const resting: Pause = { since: now, until: now + ms, attempts, because, ...severe };
  const keys = [inflight.uid, ...(rest.others ?? [])];
  return {
    ...close(answered),
    pauses: new Map([...own.pauses, ...keys.map((key) => [key, resting] as const)]),
    nextAttemptAt: now + BETWEEN_ATTEMPTS_MS[inflight.stage],
  };
}

/** No other action until the pod has been read again. */
function unclear(answered: AnsweredEviction): EvictionState {
  const { inflight, now } = answered;
  return { ...moveTo(answered, 'unknown'), nextAttemptAt: now + BETWEEN_ATTEMPTS_MS[inflight.stage] };
}

/**
 * The API server answers again and the pod still runs. The server may have failed for a moment only, which is no reason
 * to evict another pod. A pod whose eviction fails twice, for example because of another project's webhook, is paused,
 * and the next candidate may be evicted.
 */
function failed(answered: AnsweredEviction): EvictionState {
  const { own, inflight } = answered;
  const after = own.failedUid === inflight.uid ? failedAlone(answered) : troubled(answered, undefined);
  return { ...after, failedUid: inflight.uid };
}

/** A pod that cannot be read although the server answers may be the only one, so it holds back no other. */
function afterUnconfirmed(answered: AnsweredEviction, outcome: AttemptOutcome): EvictionState {
  if (outcome.kind !== 'unconfirmed') return answered.own;
  return outcome.isAnswered === true ? failed(answered) : troubled(answered, outcome.retryAfterSeconds);
}

/**
 * If evictions of several pods fail in a row, the server itself is failing, or the webhook of a project that judges all
 * pods of a kind, which are not asked for one after the other then.
 */
function failedAlone(answered: AnsweredEviction): EvictionState {
  const { own, inflight, now } = answered;
  const failures = own.failures + 1;
  const paused = pause(answered, { because: REASONS.failed({}), ms: undefined });
  const tooMany = failures - FAILURES_WITHOUT_WAIT;
  const waitMs = tooMany <= 0 ? 0 : Math.min(SECOND * 2 ** (tooMany - 1), TROUBLE_PAUSE_MS);
  const denials = withDenial(own.denials, inflight.owner, now);
  return { ...paused, failures, denials, nextAttemptAt: Math.max(paused.nextAttemptAt, now + waitMs) };
}

/** The API server failed and did nothing: the same pod may be tried again soon, or after Retry-After. */
function troubled(answered: AnsweredEviction, retryAfterSeconds: number | undefined): EvictionState {
  const { own, inflight, now } = answered;
  const growing = Math.min(BETWEEN_ATTEMPTS_MS[inflight.stage] * 2 ** own.failures, TROUBLE_PAUSE_MS);
  const waitMs = retryAfterMs(retryAfterSeconds) ?? growing;
  return { ...close(answered), failures: own.failures + 1, nextAttemptAt: now + waitMs };
}

function retryAfterMs(seconds: number | undefined): Instant | undefined {
  return seconds === undefined ? undefined : Math.min(seconds * SECOND, MAX_RETRY_AFTER_MS);
}

/**
 * An exhausted PodDisruptionBudget or DisruptionLimit affects this pod and the others of its owner. A limit of the
 * webhook affects what its window counts, and a throttling server affects every request.
 */
function afterTooMany(answered: AnsweredEviction, outcome: AttemptOutcome): EvictionState {
  if (outcome.kind !== 'tooManyRequests') return answered.own;
  const { cause, message, retryAfterSeconds } = outcome;
  if (cause === 'throttled') return troubled(answered, retryAfterSeconds);
  if (cause === 'webhook') return denied(answered, message);
  const because = cause === 'budget' ? REASONS.budgetSpent({ cause: message }) : REASONS.refused({ cause: message });
  const others = affectedBy(cause, answered.inflight);
  return { ...pause(answered, { because, ms: retryAfterMs(retryAfterSeconds), others }), failures: 0 };
}

/**
 * The webhook of another project denied this pod: no other pod is concerned. It may have begun to move the pod instead,
 * as KubeVirt does, so the pod is not asked for again in the next minute, in the severe stage either.
 */
function denied(answered: AnsweredEviction, message: string): EvictionState {
  const { own, inflight, now } = answered;
  const because = REASONS.refused({ cause: message });
  const paused = pause(answered, { because, ms: undefined, severeMs: DENIED_PAUSE_MS, leastMs: DENIED_PAUSE_MS });
  return { ...paused, failures: 0, denials: withDenial(own.denials, inflight.owner, now) };
}

function affectedBy(cause: 'budget' | LimitScope, { owner, namespace, signal }: InflightEviction): readonly string[] {
  switch (cause) {
    case 'budget':
    case 'disruptionLimit':
      return owner === undefined ? [] : [owner];
    case 'namespaceLimit':
      return [namespaceKey(namespace)];
    case 'nodeLimit':
    case 'clusterLimit':
      return [windowKey(resourceOf(signal))];
  }
}
