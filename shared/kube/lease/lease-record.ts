import { isRecord, type KubeObject } from '#shared/kube/kube-object.ts';

/** The part of a coordination.k8s.io/v1 Lease that elects. */
export interface LeaseRecord {
  /** Empty: not held. */
  readonly holder: string;
  readonly durationMs: number;
  /** Changes of leadership so far. */
  readonly transitions: number;
  readonly uid: string;
  /** Opaque; makes every write conditional. */
  readonly resourceVersion: string;
}

/** A record and when it last changed, by our own monotonic clock: foreign clocks are not trusted. */
export interface Sighting {
  readonly record: LeaseRecord;
  readonly seenAt: number;
}

/** Reads a Lease; odd fields count as absent, so that a damaged lease expires instead of blocking for ever. */
export function leaseRecord(lease: KubeObject, defaultDurationMs: number): LeaseRecord {
  const spec = isRecord(lease['spec']) ? lease['spec'] : {};
  const { holderIdentity, leaseDurationSeconds, leaseTransitions } = spec;
  return {
    holder: typeof holderIdentity === 'string' ? holderIdentity : '',
    durationMs: isCount(leaseDurationSeconds) ? leaseDurationSeconds * 1_000 : defaultDurationMs,
    transitions: isCount(leaseTransitions) ? leaseTransitions : 0,
    uid: lease.metadata.uid ?? '',
    resourceVersion: lease.metadata.resourceVersion ?? '',
  };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** The sighting after reading `record`: time counts from when the record last changed. */
export function sight(previous: Sighting | undefined, record: LeaseRecord, now: number): Sighting {
  return previous?.record.resourceVersion === record.resourceVersion ? previous : { record, seenAt: now };
}

/** Whether a candidate may take the lease: it is not held, the candidate held it before a restart, or it was not renewed in time. */
export function mayAcquire({ record, seenAt }: Sighting, identity: string, now: number): boolean {
  return record.holder === '' || record.holder === identity || now - seenAt >= record.durationMs;
}

/** Names one term of leadership: equal in all writes of one term, never equal in two, also when the Lease was made anew. */
export function fencingToken({ uid, transitions }: LeaseRecord): string {
  return `${uid}/${transitions}`;
}
