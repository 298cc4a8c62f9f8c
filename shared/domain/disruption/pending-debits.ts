import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { putBounded } from '#shared/domain/base/memoize.ts';
import { type Evidence, isUnexplained, SETTLE_MS } from './cause.ts';
import type { SeenRemoval } from './removal.ts';

/** A removed pod that is still to be debited, with what limits need to know. */
export interface PendingDebit {
  readonly namespace: string;
  readonly uid: string;
  readonly pod: string;
  readonly at: Instant;
  readonly labels: Pod['labels'];
  readonly owners: Pod['owners'];
  readonly spec: Pick<Pod['spec'], 'priority'>;
  readonly status: Pick<Pod['status'], 'phase' | 'reason'>;
  readonly evidence: Evidence;
}

interface DueOptions {
  readonly most: number;
  readonly left: { readonly has: (namespace: string) => boolean };
  readonly evidenceOf: (uid: string) => Evidence | undefined;
}

const MAX_PENDING = 20_000;
/** Only the leader debits; a new leader debits what the former one left. */
const KEPT_MS = 10 * 60_000;

/**
 * Removals that were observed and not yet debited, one entry per pod even if one record represents many of them.
 * Changed in place, like the removals.
 */
export class PendingDebits {
  readonly #pending = new Map<string, PendingDebit>();

  get size(): number {
    return this.#pending.size;
  }

  has(uid: string): boolean {
    return this.#pending.has(uid);
  }

  see({ pod, evidence, at }: SeenRemoval): void {
    const { uid, name, namespace, labels, owners, spec, status } = pod;
    if (this.#pending.has(uid)) return;
    const { priority } = spec;
    const { phase, reason } = status;
    const ran = { spec: { priority }, status: { phase, reason } };
    const pending = { namespace, uid, pod: name, at, labels, owners, ...ran, evidence };
    putBounded(this.#pending, MAX_PENDING, [uid, pending]);
  }

  /**
   * What to debit now, up to a maximum, the oldest first. `evidenceOf` knows more about some removals; the namespaces
   * in `left`, for which it failed a moment ago, are skipped.
   */
  due(now: Instant, { most, left, evidenceOf }: DueOptions): readonly PendingDebit[] {
    const due: PendingDebit[] = [];
    for (const each of this.#pending.values()) {
      const evidence = evidenceOf(each.uid) ?? each.evidence;
      const isDue = !left.has(each.namespace) && (!isUnexplained(evidence) || now - each.at >= SETTLE_MS);
      if (isDue && due.push({ ...each, evidence }) >= most) break;
    }
    return due;
  }

  /** Removes entries that are debited or that no limit covers. */
  done(uids: Iterable<string>): void {
    for (const uid of uids) this.#pending.delete(uid);
  }

  prune(now: Instant): void {
    for (const [uid, { at }] of this.#pending) if (now - at >= KEPT_MS) this.#pending.delete(uid);
  }
}
