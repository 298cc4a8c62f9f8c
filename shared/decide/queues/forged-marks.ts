import { type Admitted, decodeAdmitted } from '#shared/api/admitted.ts';
import { CONFIG_MIRROR } from '#shared/domain/eviction/protection.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { ANNOTATION_ADMITTED } from '#shared/kube/api-names.ts';
import { isManaged } from '#shared/kube/annotations/annotations.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';

/** A pod with a mark that the leader of the queues did not write. */
export interface ForgedMark {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly seenAt: Instant;
}

/**
 * Whether only the leader could write the mark of a pod that was created at that time: the policy that guards marks has
 * been in force ever since.
 */
export interface IsGuarded {
  (createdAt: Instant): boolean;
}

const ALWAYS: IsGuarded = () => true;

/** A mark that counts for nothing so far. */
export interface OpenClaim {
  readonly queue: string;
  /** The guard was read later, and is older than the pod. */
  readonly isProven: boolean;
}

interface Readable {
  readonly uid: string;
  readonly createdAt: Instant;
}

/** A mark on a pod that is older than the guard. */
interface Claim {
  readonly mark: Admitted;
  readonly createdAt: Instant;
  isOwn: boolean;
}

/**
 * Reads the mark of pods that were let in. A mark that stood on a pod while its namespace was not managed counts
 * nowhere, also not after the namespace is managed, until it is removed; nor does that of a mirror pod, which only a node
 * can create. A mark on a pod that is older than the guard is a claim: a tenant may have written it. It counts as far as it
 * takes nothing from others, which is where it names the queue that the pod stands in anyway.
 */
export class ForgedMarks {
  readonly #forged = new Map<string, ForgedMark>();
  readonly #claims = new Map<string, Claim>();
  readonly #isGuarded: IsGuarded;

  constructor(isGuarded: IsGuarded = ALWAYS) {
    this.#isGuarded = isGuarded;
  }

  /** The mark of a pod; `undefined` if it has none that counts. A time that has not come would give it no deadline. */
  read({ metadata }: KubeObject, { namespaces }: Pick<ClusterSnapshot, 'namespaces'>, now: Instant) {
    const { uid = '', namespace = '', name = '', annotations, creationTimestamp } = metadata;
    const mark = notAhead(decodeAdmitted(annotations?.[ANNOTATION_ADMITTED]), now);
    if (mark === undefined) {
      this.gone(uid);
      return undefined;
    }
    if (isMirror(metadata) || isUnmanaged(namespaces.get(namespace))) this.#note({ uid, namespace, name, seenAt: now });
    if (this.#forged.has(uid)) return undefined;
    const createdAt = timeOf(creationTimestamp);
    return this.#isGuarded(createdAt) ? mark : this.#claimed({ uid, createdAt }, mark);
  }

  /** What the mark of a pod says that is older than the guard, as long as it counts for nothing. */
  claimOf(uid: string): OpenClaim | undefined {
    const claim = this.#claims.get(uid);
    if (claim?.isOwn !== false) return undefined;
    return { queue: claim.mark.queue, isProven: this.#isGuarded(claim.createdAt) };
  }

  /** The claim names the queue that the pod stands in, or is proven by now. */
  acceptClaim(uid: string): Admitted | undefined {
    const claim = this.#claims.get(uid);
    if (claim !== undefined) claim.isOwn = true;
    return claim?.mark;
  }

  /** The claim names the queue of others. As long as no guard is known it stays: the guard may only not be readable yet. */
  refuseClaim(pod: Omit<ForgedMark, 'seenAt'>, now: Instant): void {
    // At once: whatever labels are still to be seen, they make it no claim to its own queue.
    if (this.#isGuarded(now)) this.#note({ ...pod, seenAt: 0 });
  }

  gone(uid: string): void {
    this.#forged.delete(uid);
    this.#claims.delete(uid);
  }

  /** Marks to remove. */
  values(): Iterable<ForgedMark> {
    return this.#forged.values();
  }

  /** At most one for each pod that there is. */
  #note(mark: ForgedMark): void {
    this.#claims.delete(mark.uid);
    if (!this.#forged.has(mark.uid)) this.#forged.set(mark.uid, mark);
  }

  /** It lets no rollout grow. */
  #claimed({ uid, createdAt }: Readable, { queue, application, mayPreempt, mayBePreempted, decision, at }: Admitted) {
    const mark = { queue, application, mayPreempt, mayBePreempted, decision, at };
    const isOwn = this.#claims.get(uid)?.isOwn === true;
    this.#claims.set(uid, { mark, createdAt, isOwn });
    return isOwn ? mark : undefined;
  }
}

function isMirror({ annotations }: KubeObject['metadata']): boolean {
  return annotations?.[CONFIG_MIRROR] !== undefined;
}

function timeOf(text: string | undefined): Instant {
  return Date.parse(text ?? '') || 0;
}

/** The mark of a pod that kube-scheduler asks about; `undefined` if a tenant may have written it. */
export function guardedMark({ annotations, createdAt = 0 }: Pod, isGuarded = ALWAYS): Admitted | undefined {
  if (annotations.has(CONFIG_MIRROR) || !isGuarded(createdAt)) return undefined;
  return decodeAdmitted(annotations.get(ANNOTATION_ADMITTED));
}

function notAhead(mark: Admitted | undefined, now: Instant): Admitted | undefined {
  return mark !== undefined && mark.at > now ? { ...mark, at: now } : mark;
}

/** A namespace that is not known yet may be managed. */
function isUnmanaged(labels: ReadonlyMap<string, string> | undefined): boolean {
  return labels !== undefined && !isManaged(labels);
}
