import type { ClientContext } from '#shared/kube/client/client.ts';
import { type KubeObject, microTime } from '#shared/kube/kube-object.ts';
import { isRecord } from '#shared/kube/decode/wire-object.ts';
import { createObject, getObject, patchObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { LEASES } from '#shared/kube/resource.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';

export interface CandidateOptions extends Pick<ClientContext, 'client' | 'clock'> {
  readonly name: string;
  readonly namespace: string;
  /** Unique per process. A process with the same identity takes the lease over at once. */
  readonly identity: string;
  readonly durationMs: number;
  readonly renewDeadlineMs: number;
}

/** How an attempt to get a lease ended; `refused` carries the API server's message. */
export type LeaseAttempt =
  { readonly kind: 'acquired' | 'held' } | { readonly kind: 'refused'; readonly message: string };

/** A process that wants a lease, and the last state of the lease that it saw. */
export interface LeaseCandidate {
  tryAcquire(signal: AbortSignal): Promise<LeaseAttempt>;
  /** Whether another candidate holds the lease, which a copy shows like this now: then there is nothing to try. */
  isHeldIn(lease: KubeObject): boolean;
  /** `failed` may be tried again while the lease is held; `lost` is final. */
  tryRenew(): Promise<'renewed' | 'failed' | 'lost'>;
  /** Releases the lease, so that no candidate has to wait for it to expire. */
  release(): Promise<void>;
  /** How long the lease is still valid, by the monotonic clock now. */
  remainingMs(): number;
  fencingToken(): string;
  /** When the holder before this one was last alive, by its wall time; 0 if there was none. */
  formerUntil(): Instant;
}

/** A candidate that does not hold the lease yet. Every write is conditional on the version last read. */
export function createCandidate(options: CandidateOptions): LeaseCandidate {
  const { client, name, namespace, identity, clock, durationMs, renewDeadlineMs } = options;
  const address = { resource: LEASES, namespace, name };
  let sighting: Sighting | undefined;
  let term: LeaseRecord | undefined;
  let formerUntil: Instant = 0;
  /** When the last successful write was sent: no other candidate started to wait earlier. */
  let writtenAt = -Infinity;

  const remainingMs = (): number => Math.max(0, writtenAt + renewDeadlineMs - clock.monotonic());

  /** What the lease says if it may be taken; `undefined` while another candidate holds it. */
  function recordToTake(lease: KubeObject): LeaseRecord | undefined {
    sighting = sight(sighting, leaseRecord(lease, durationMs), clock.monotonic());
    return mayAcquire(sighting, identity, clock.monotonic()) ? sighting.record : undefined;
  }

  async function tryAcquire(signal: AbortSignal): Promise<LeaseAttempt> {
    const found = await getObject(client, address, { signal, timeoutMs: renewDeadlineMs });
    formerUntil = found.kind === 'ok' ? Math.min(renewedAt(found.object), clock.now()) : 0;
    if (found.kind === 'notFound') return attempt(await write(createLease(options), takenOver(options)));
    if (found.kind !== 'ok') return attempt(found);
    const record = recordToTake(found.object);
    if (record === undefined) return { kind: 'held' };
    return attempt(await write(patchLease(options, record), takenOver(options, record)));
  }

  async function tryRenew(): Promise<'renewed' | 'failed' | 'lost'> {
    if (term === undefined) return 'lost';
    if ((await write(patchLease(options, term), held(options))).kind === 'ok') return 'renewed';
    return isStillOurs(term, await getObject(client, address, { timeoutMs: remainingMs() }));
  }

  /**
   * A renewal whose response was lost has changed the version. The lease is still ours if holder and term are
   * unchanged.
   */
  function isStillOurs(held: LeaseRecord, found: Outcome<KubeObject>): 'failed' | 'lost' {
    if (found.kind === 'notFound') return 'lost';
    if (found.kind !== 'ok') return 'failed';
    const record = leaseRecord(found.object, durationMs);
    if (record.holder !== identity || fencingToken(record) !== fencingToken(held)) return 'lost';
    term = record;
    return 'failed';
  }

  async function release(): Promise<void> {
    if (term === undefined || remainingMs() === 0) return;
    await patchLease(options, term)({ holderIdentity: '', leaseDurationSeconds: 1 }, { timeoutMs: renewDeadlineMs });
    term = undefined;
    writtenAt = -Infinity;
  }

  async function write(send: LeaseWrite, spec: object): Promise<Outcome<KubeObject>> {
    const sentAt = clock.monotonic();
    const timeoutMs = remainingMs() || renewDeadlineMs;
    const written = await send(spec, { timeoutMs });
    if (written.kind !== 'ok') return written;
    term = leaseRecord(written.object, durationMs);
    writtenAt = sentAt;
    return written;
  }

  return {
    tryAcquire,
    isHeldIn: (lease) => recordToTake(lease) === undefined,
    tryRenew,
    release,
    remainingMs,
    fencingToken: () => (term === undefined ? '' : fencingToken(term)),
    formerUntil: () => formerUntil,
  };
}

/** Another candidate was faster and holds it now. */
function attempt(outcome: Outcome<KubeObject>): LeaseAttempt {
  if (outcome.kind === 'ok') return { kind: 'acquired' };
  if (outcome.kind === 'conflict' || outcome.kind === 'alreadyExists') return { kind: 'held' };
  return { kind: 'refused', message: outcome.message };
}

type LeaseWrite = (spec: object, call: { readonly timeoutMs: number }) => Promise<Outcome<KubeObject>>;

function createLease({ client, name, namespace }: CandidateOptions): LeaseWrite {
  return (spec, call) => {
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec };
    return createObject(client, { resource: LEASES, namespace }, lease, call);
  };
}

/** The API server rejects the write if the lease has changed since. */
function patchLease({ client, name, namespace }: CandidateOptions, { resourceVersion }: LeaseRecord): LeaseWrite {
  const address = { resource: LEASES, namespace, name };
  return (spec, call) =>
    patchObject(client, address, { metadata: { resourceVersion }, spec }, { ...call, type: 'merge' });
}

function held({ identity, durationMs, clock }: CandidateOptions): object {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMs / 1_000),
    renewTime: microTime(clock.now()),
  };
}

/** Without a record the Lease is new. */
function takenOver(options: CandidateOptions, record?: LeaseRecord): object {
  const leaseTransitions = record === undefined ? 0 : record.transitions + 1;
  return { ...held(options), leaseTransitions, acquireTime: microTime(options.clock.now()) };
}

/** The part of a coordination.k8s.io/v1 Lease that elects. */
export interface LeaseRecord {
  /** Empty if not held. */
  readonly holder: string;
  readonly durationMs: number;
  /** Number of changes of leadership so far. */
  readonly transitions: number;
  readonly uid: string;
  /** Opaque; used to make every write conditional. */
  readonly resourceVersion: string;
}

/** A record, and when it last changed by our own monotonic clock: the clocks of other processes are not trusted. */
export interface Sighting {
  readonly record: LeaseRecord;
  readonly seenAt: number;
}

/** A holder that is not seen any more is not waited for longer, whatever it wrote: several times what ours write. */
const MAX_DURATION_MS = 60_000;

/** Reads a Lease. Invalid fields count as absent, so that a damaged lease expires instead of blocking forever. */
function leaseRecord(lease: KubeObject, ownMs: number): LeaseRecord {
  const spec = isRecord(lease['spec']) ? lease['spec'] : {};
  const { holderIdentity, leaseDurationSeconds, leaseTransitions } = spec;
  return {
    holder: typeof holderIdentity === 'string' ? holderIdentity : '',
    durationMs: isCount(leaseDurationSeconds) ? Math.min(leaseDurationSeconds * 1_000, MAX_DURATION_MS) : ownMs,
    transitions: isCount(leaseTransitions) ? leaseTransitions : 0,
    uid: lease.metadata.uid ?? '',
    resourceVersion: lease.metadata.resourceVersion ?? '',
  };
}

/** 0 for a Lease that has never been held, or that does not say. */
function renewedAt(lease: KubeObject): Instant {
  const renewTime = isRecord(lease['spec']) ? lease['spec']['renewTime'] : undefined;
  const at = typeof renewTime === 'string' ? Date.parse(renewTime) : 0;
  return Number.isFinite(at) ? at : 0;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** The sighting after reading `record`: its time is when the record last changed. */
function sight(previous: Sighting | undefined, record: LeaseRecord, now: number): Sighting {
  return previous?.record.resourceVersion === record.resourceVersion ? previous : { record, seenAt: now };
}

/**
 * Whether a candidate may take the lease: no candidate holds it, this candidate held it before a restart, or it was not
 * renewed in time.
 */
function mayAcquire({ record, seenAt }: Sighting, identity: string, now: number): boolean {
  return record.holder === '' || record.holder === identity || now - seenAt >= record.durationMs;
}

/**
 * Identifies one term of leadership: equal in all writes of a term, and never equal in two, even if the Lease was
 * created again.
 */
function fencingToken({ uid, transitions }: LeaseRecord): string {
  return `${uid}/${transitions}`;
}
