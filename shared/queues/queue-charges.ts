import { decodeAdmitted } from '#shared/api/admitted.ts';
import { hasEnded, isBound, type Pod } from '#shared/domain/pod/pod.ts';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { ANNOTATION_ADMITTED, LABEL_QUEUE } from '#shared/kube/api-names.ts';
import { isManaged } from '#shared/kube/annotations/queue-marks.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { PodAmounts } from './pod-amounts.ts';

/** What pods have in common that count alike for the queues. */
export interface Charge {
  readonly namespace: string;
  /** The queue that the label of the pods names; empty where they have none. */
  readonly label: string;
  /** The queue that the pods were let in to, if that was written on them. */
  readonly admittedTo: string | undefined;
  readonly requests: QueueAmounts;
}

interface CountedCharge extends Charge {
  readonly key: string;
  pods: number;
}

/** A pod as it was decoded and as it was read. */
export interface WatchedPod {
  readonly pod: Pod;
  readonly raw: KubeObject;
}

/**
 * What the pods of managed namespaces take that are on a node and not terminating. Many pods count alike, so that the sum
 * over all of them is quickly made, and a pod costs one entry of a map.
 */
export class QueueCharges {
  readonly #amounts: PodAmounts;
  readonly #byPod = new Map<string, CountedCharge>();
  readonly #kinds = new Map<string, CountedCharge>();
  readonly #numbers = new WeakMap<QueueAmounts, number>();
  #lastNumber = 0;

  constructor(amounts: PodAmounts) {
    this.#amounts = amounts;
  }

  get(uid: string): Charge | undefined {
    return this.#byPod.get(uid);
  }

  /** Each kind of pods, and how many there are. */
  kinds(): Iterable<Charge & { readonly pods: number }> {
    return this.#kinds.values();
  }

  /** Takes a pod in as the watch shows it. */
  observe({ pod, raw }: WatchedPod, { namespaces }: Pick<ClusterSnapshot, 'namespaces'>): void {
    const annotation = raw.metadata.annotations?.[ANNOTATION_ADMITTED];
    // Whether the namespace is managed may not be known yet, and is asked again when charges are read.
    const mayCount = annotation !== undefined || isManaged(namespaces.get(pod.namespace));
    if (!mayCount || !takesRoom(pod)) this.gone(pod.uid);
    else this.#charge(pod, decodeAdmitted(annotation)?.queue);
  }

  /** Takes in pods that were on nodes before their namespaces were managed. */
  adopt({ placedPods, namespaces }: Pick<ClusterSnapshot, 'placedPods' | 'namespaces'>): void {
    for (const [uid, { pod }] of placedPods) {
      if (this.#byPod.has(uid) || !isManaged(namespaces.get(pod.namespace)) || !takesRoom(pod)) continue;
      this.#charge(pod, undefined);
    }
  }

  /** The pod takes nothing any more. */
  gone(uid: string): void {
    const charge = this.#byPod.get(uid);
    if (charge === undefined) return;
    this.#byPod.delete(uid);
    charge.pods -= 1;
    if (charge.pods === 0) this.#kinds.delete(charge.key);
  }

  #charge(pod: Pod, admittedTo: string | undefined): void {
    const { namespace } = pod;
    const label = pod.labels.get(LABEL_QUEUE) ?? '';
    const requests = this.#amounts.of(pod);
    const key = [namespace, label, admittedTo ?? '', this.#numberOf(requests)].join(' ');
    if (this.#byPod.get(pod.uid)?.key === key) return;
    this.gone(pod.uid);
    const charge = this.#kinds.get(key) ?? { key, namespace, label, admittedTo, requests, pods: 0 };
    charge.pods += 1;
    this.#kinds.set(key, charge);
    this.#byPod.set(pod.uid, charge);
  }

  #numberOf(amounts: QueueAmounts): number {
    const known = this.#numbers.get(amounts) ?? (this.#lastNumber += 1);
    this.#numbers.set(amounts, known);
    return known;
  }
}

function takesRoom(pod: Pod): boolean {
  return isBound(pod) && pod.deletion === undefined && !hasEnded(pod);
}
