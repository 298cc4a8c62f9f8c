import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { forwardAbort } from '#shared/runtime/clock.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { createReflector } from '#shared/kube/reflector/reflector.ts';
import { LEASES } from '#shared/kube/resource.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { type LeaseAttempt, type LeaseCandidate, type CandidateOptions, createCandidate } from './lease-candidate.ts';

interface LeaseOptions
  extends Omit<ClientContext, 'metrics'>, Pick<CandidateOptions, 'name' | 'namespace' | 'identity'> {
  /** How long other candidates wait for a silent leader. */
  readonly durationMs?: number;
  /** How long a leader continues without a renewal; the rest of the duration is its time to stop. */
  readonly renewDeadlineMs?: number;
  readonly retryMs?: number;
  /** Whether a candidate that waits watches the lease, so that it need not ask. */
  readonly isWatched?: boolean;
  /** The leader's work. Its signal aborts before another candidate may lead, and the work should end then. */
  readonly lead: (signal: AbortSignal, term: LeaseTerm) => Promise<void>;
}

/** One term of leadership. A leader checks `isHeld` before each write, and its writes carry the token. */
export interface LeaseTerm {
  /** Constant during the term and never used again; compare for equality. */
  readonly fencingToken: string;
  /** When the leader before this one was last alive, by its wall time; 0 if there was none. */
  readonly formerUntil: Instant;
  /** By the monotonic clock now, so it is also correct after the process was frozen. */
  isHeld(): boolean;
}

const DURATION_MS = 15_000;
const RENEW_DEADLINE_MS = 10_000;
/** How often a candidate that waits looks at the lease, or at its copy. */
const RETRY_MS = 2_000;
/** Four attempts before the deadline. */
const RENEW_MS = 2_500;

/**
 * Leads whenever this process holds the lease, until `signal` aborts; then releases the lease. Never rejects: if the
 * API server is unavailable, no leader is elected.
 */
export async function runWithLease(options: LeaseOptions, signal: AbortSignal): Promise<void> {
  const { clock, random, retryMs = RETRY_MS } = options;
  const candidate = createCandidate({
    ...options,
    durationMs: options.durationMs ?? DURATION_MS,
    renewDeadlineMs: options.renewDeadlineMs ?? RENEW_DEADLINE_MS,
  });
  let problem: string | undefined;
  let copy: LeaseCopy | undefined;
  while (!signal.aborted) {
    const seen = copy?.lease();
    if (seen === undefined || !candidate.isHeldIn(seen)) {
      const attempt = await candidate.tryAcquire(signal);
      copy = nextCopy(options, { copy, isHeld: attempt.kind === 'held' }, signal);
      if (attempt.kind === 'acquired') await leadOneTerm(options, candidate, signal);
      if (!isOver(signal)) problem = warnOfRefusal(options, attempt, problem);
    }
    await clock.sleep(retryMs * (1 + random() / 5), signal);
  }
}

/** The lease as a watch shows it to a candidate that waits, so that it does not ask every few seconds. */
interface LeaseCopy {
  /** `undefined` until it has been read, and where a watch is not allowed: then the candidate asks. */
  readonly lease: () => KubeObject | undefined;
  readonly stop: () => void;
}

/** A copy that was wrong is made anew; one that shows nothing yet goes on. */
function nextCopy(
  options: LeaseOptions,
  { copy, isHeld }: { readonly copy: LeaseCopy | undefined; readonly isHeld: boolean },
  signal: AbortSignal,
): LeaseCopy | undefined {
  if (isHeld && copy !== undefined && copy.lease() === undefined) return copy;
  copy?.stop();
  return isHeld && (options.isWatched ?? true) && !signal.aborted ? copyLease(options, signal) : undefined;
}

function copyLease({ name, ...options }: LeaseOptions, signal: AbortSignal): LeaseCopy {
  const slim = (raw: KubeObject): KubeObject => raw;
  const copy = createReflector({ ...options, resource: LEASES, fieldSelector: `metadata.name=${name}`, slim });
  const ended = new AbortController();
  const unlink = forwardAbort(signal, ended);
  void copy.run(ended.signal).finally(unlink);
  return { lease: () => copy.get(`${options.namespace}/${name}`), stop: () => ended.abort() };
}

/** Logs each cause once: without permissions, or without the namespace, no replica ever leads. Returns the cause. */
function warnOfRefusal(
  { log, name, namespace }: LeaseOptions,
  attempt: LeaseAttempt,
  previous: string | undefined,
): string | undefined {
  const reason = attempt.kind === 'refused' ? attempt.message : undefined;
  if (reason !== undefined && reason !== previous) log.warn({ lease: name, namespace, reason }, 'Lease not available');
  return reason;
}

/** An attempt aborted by shutdown is not a refusal. */
function isOver({ aborted }: AbortSignal): boolean {
  return aborted;
}

/** Renews the lease until the work has ended, even while it is stopping: until then no other candidate may start. */
async function leadOneTerm(options: LeaseOptions, candidate: LeaseCandidate, signal: AbortSignal): Promise<void> {
  const { log, name: lease } = options;
  const lost = new AbortController();
  const ended = new AbortController();
  const leading = new AbortController();
  const unlinks = [signal, lost.signal].map((source) => forwardAbort(source, leading));
  const fencingToken = candidate.fencingToken();
  const formerUntil = candidate.formerUntil();
  const term = { fencingToken, formerUntil, isHeld: () => !lost.signal.aborted && candidate.remainingMs() > 0 };
  log.info({ lease, fencingToken }, 'Lease acquired');
  const renewing = keepRenewing(options, candidate, ended.signal).then(() => lost.abort());
  try {
    await options.lead(leading.signal, term);
  } catch (error) {
    log.error({ err: error, lease }, 'Leader failed');
  }
  for (const unlink of unlinks) unlink();
  ended.abort();
  await renewing;
  await candidate.release();
  log.info({ lease, fencingToken }, 'Lease ended');
}

/** Resolves when the lease is lost, expired or no longer needed. */
async function keepRenewing(options: LeaseOptions, candidate: LeaseCandidate, ended: AbortSignal): Promise<void> {
  const { clock, retryMs = RENEW_MS } = options;
  const shouldRenew = (): boolean => !ended.aborted && candidate.remainingMs() > 0;
  while (shouldRenew()) {
    await clock.sleep(Math.min(retryMs, candidate.remainingMs()), ended);
    if (shouldRenew() && (await candidate.tryRenew()) === 'lost') return;
  }
}

/** A unique identity of a Lease holder: a restarted container keeps its host name, and replicas may share one. */
export function newIdentity(): string {
  return `${hostname()}_${randomUUID()}`;
}
