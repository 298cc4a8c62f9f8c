import { decodeAdmitted } from '#shared/api/admitted.ts';
import { CONFIG_MIRROR } from '#shared/domain/eviction/protection.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
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
 * Reads the mark of pods that were let in. A mark that stood on a pod while its namespace was not managed counts
 * nowhere, also not after the namespace is managed, until it is removed; nor does that of a mirror pod, which only a node
 * can create.
 */
export class ForgedMarks {
  readonly #forged = new Map<string, ForgedMark>();

  /** The mark of a pod; `undefined` if it has none that counts. */
  read({ metadata }: KubeObject, { namespaces }: Pick<ClusterSnapshot, 'namespaces'>, now: Instant) {
    const { uid = '', namespace = '', name = '', annotations } = metadata;
    const mark = decodeAdmitted(annotations?.[ANNOTATION_ADMITTED]);
    if (mark === undefined) this.#forged.delete(uid);
    else if (annotations?.[CONFIG_MIRROR] !== undefined || isUnmanaged(namespaces.get(namespace)))
      this.#note({ uid, namespace, name, seenAt: now });
    return this.#forged.has(uid) ? undefined : mark;
  }

  gone(uid: string): void {
    this.#forged.delete(uid);
  }

  /** Marks to remove. */
  values(): Iterable<ForgedMark> {
    return this.#forged.values();
  }

  /** At most one for each pod that there is. */
  #note(mark: ForgedMark): void {
    if (!this.#forged.has(mark.uid)) this.#forged.set(mark.uid, mark);
  }
}

/** A namespace that is not known yet may be managed. */
function isUnmanaged(labels: ReadonlyMap<string, string> | undefined): boolean {
  return labels !== undefined && !isManaged(labels);
}
