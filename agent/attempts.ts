import type { Clock } from '#shared/runtime/clock.ts';
import type { AgentPolicy, Mode } from '#shared/api/node-pressure-policy/policy.ts';
import { isPreempted, type Pod } from '#shared/domain/pod/pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { type EvictionRequest, evictPod, decisionIdOf } from '#shared/kube/events/evict-pod.ts';
import { getObject, type ObjectAddress } from '#shared/kube/client/objects.ts';
import { PODS, NAMESPACES } from '#shared/kube/resource.ts';
import {
  ANNOTATION_EVICTION_DECISION,
  ANNOTATION_EVICTION_REASON,
  ANNOTATION_EVICTION_URGENCY,
} from '#shared/kube/api-names.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { Failure, Outcome } from '#shared/kube/client/outcome.ts';
import { type AttemptOutcome, isUnclear } from '#shared/decide/eviction/apply-outcome.ts';
import { type Eviction, abortReason, type FreshPod } from '#shared/decide/eviction/eviction.ts';
import type { Attempt } from '#shared/decide/eviction/decide.ts';
import type { NodeSource } from './observe/node/node-source.ts';
import type { InflightEviction } from '#shared/decide/eviction/history/inflight-eviction.ts';
import { namespaceState } from './observe/api-server/polled.ts';

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
    const outcome =
      (await preflight(ports, eviction, signal)) ?? (await ports.attempt[eviction.mode](eviction, signal));
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

async function preflight(
  { readFresh, source, clock, policy }: AttemptPorts,
  eviction: Eviction,
  signal: AbortSignal,
): Promise<AttemptOutcome | undefined> {
  const fresh = await readFresh(eviction.pod, signal);
  return abortReason(eviction, { fresh, view: source.readNode(clock.monotonic()) }, policy());
}

/** Requests one eviction, or a dry run of it; resolves with the outcome and never rejects. */
export type AttemptEviction = (eviction: Eviction, signal: AbortSignal) => Promise<AttemptOutcome>;

/**
 * Enforce: calls the Eviction API with the UID of the pod that was chosen. The agent has no other way to remove a pod.
 */
export function enforceEviction(client: KubeClient): AttemptEviction {
  return (eviction, signal) => evictPod(client, { ...requestOf(eviction), signal });
}

/**
 * DryRun: the same request with `dryRun=All`, so that the API server and its webhooks refuse it if they would refuse
 * the real one, for example because of a PodDisruptionBudget. Nothing is stored.
 */
export function dryRunEviction(client: KubeClient): AttemptEviction {
  return async (eviction, signal) => {
    const outcome = await evictPod(client, { ...requestOf(eviction), dryRun: true, signal });
    return outcome.kind === 'evicted' ? { kind: 'pretended' } : outcome;
  };
}

/** Reason and decision go with the request, so that the audit log of the API server leads to the record (S3-25). */
function requestOf(eviction: Eviction): EvictionRequest {
  const { pod, graceSeconds, urgency, because } = eviction;
  const { namespace, name, uid } = pod;
  const annotations = {
    [ANNOTATION_EVICTION_REASON]: because.code,
    [ANNOTATION_EVICTION_DECISION]: attemptId(eviction),
    ...(urgency !== undefined && { [ANNOTATION_EVICTION_URGENCY]: urgency }),
  };
  return { namespace, name, uid, gracePeriodSeconds: graceSeconds, annotations };
}

/** Identifies a decision by its inputs: the pod, the signal and the numbers. */
export function attemptId({
  pod,
  signal,
  mode,
  because,
}: Pick<Eviction, 'pod' | 'signal' | 'mode' | 'because'>): string {
  return decisionIdOf(pod.uid, signal, mode, because.code, because.facts);
}

const RETRY_MS = 1000;
const READ_TIMEOUT_MS = 5000;

/** After an unclear answer: reads the pod until the API server shows what happened. */
export async function readAgain(
  client: KubeClient,
  { pod, mode }: Pick<Eviction, 'pod' | 'mode'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const address = { resource: PODS, namespace: pod.namespace, name: pod.name };
  while (!signal.aborted) {
    const outcome = await getObject(client, address, { signal, timeoutMs: READ_TIMEOUT_MS });
    if (outcome.kind === 'notFound') return { kind: 'foundGone' };
    if (outcome.kind === 'ok') return found(outcome.object, { uid: pod.uid, mode });
    await clock.sleep(RETRY_MS, signal);
  }
  return { kind: 'timeout', message: 'stopped before the outcome was known' };
}

/**
 * A pod that kube-scheduler preempted in the meantime does not count as an eviction, so it adds no avoid entry (S3-32).
 * A pod that terminates after a dry run was removed by another program.
 */
function found(object: KubeObject, { uid, mode }: Pick<InflightEviction, 'uid' | 'mode'>): AttemptOutcome {
  if (object.metadata.uid !== uid) return { kind: 'foundGone' };
  if (object.metadata.deletionTimestamp === undefined) return { kind: 'foundUnharmed' };
  if (mode === 'DryRun') return { kind: 'foundGone' };
  const decoded = decodePod(object);
  return { kind: decoded.ok && isPreempted(decoded.value) ? 'foundPreempted' : 'foundEnding' };
}

/** Reads a pod and its namespace again, in parallel; never rejects. */
export type ReadFresh = (pod: Pod, signal: AbortSignal) => Promise<FreshPod>;

/** A slow API server is still the only way to evict, so the agent waits for it. */
const FRESH_TIMEOUT_MS = 10_000;
/** A request may hang on a dead connection while the API server answers others. */
const ASKED_AGAIN_AFTER_MS = [0, 2000, 5000];

export function readFresh(client: KubeClient, clock: Clock): ReadFresh {
  const read = (address: ObjectAddress, signal: AbortSignal): Promise<Outcome<KubeObject>> =>
    firstAnswer((options) => getObject(client, address, options), clock, signal);
  return async ({ namespace, name }, signal) => {
    const [pod, home] = await Promise.all([
      read({ resource: PODS, namespace, name }, signal),
      read({ resource: NAMESPACES, name: namespace }, signal),
    ]);
    if (pod.kind === 'notFound' || home.kind === 'notFound') return { kind: 'gone' };
    if (pod.kind !== 'ok') return unknown(pod);
    if (home.kind !== 'ok') return unknown(home);
    const decoded = decodePod(pod.object);
    if (!decoded.ok) return { kind: 'unreadable', message: `${decoded.field}: ${decoded.message}` };
    return { kind: 'found', pod: decoded.value, namespace: namespaceState(home.object) };
  };
}

type Ask = (options: { readonly signal: AbortSignal; readonly timeoutMs: number }) => Promise<Outcome<KubeObject>>;

/** The first answer to a read that is repeated while there is none; a timeout if there is none in time. */
async function firstAnswer(ask: Ask, clock: Clock, signal: AbortSignal): Promise<Outcome<KubeObject>> {
  const answered = new AbortController();
  const either = AbortSignal.any([signal, answered.signal]);
  const attempts = ASKED_AGAIN_AFTER_MS.map(async (delayMs) => {
    if (delayMs > 0) await clock.sleep(delayMs, either);
    either.throwIfAborted();
    const outcome = await ask({ signal: either, timeoutMs: FRESH_TIMEOUT_MS - delayMs });
    if (outcome.kind === 'timeout') throw new Error(outcome.message);
    return outcome;
  });
  const first = Promise.any(attempts).catch((): Failure => ({ kind: 'timeout', message: NO_ANSWER }));
  return first.finally(() => answered.abort());
}

const NO_ANSWER = `no answer within ${FRESH_TIMEOUT_MS / 1000} s`;

/** If the server is busy or unavailable, it would not answer other requests either. */
const WITHOUT_ANSWER: readonly Failure['kind'][] = ['unreachable', 'timeout', 'tooManyRequests', 'unauthorized'];

function unknown({ kind, message, retryAfterSeconds }: Failure): FreshPod {
  return { kind: 'unknown', message, isAnswered: !WITHOUT_ANSWER.includes(kind), retryAfterSeconds };
}
