import { hasEnded, isBound, type Pod } from '#shared/domain/pod/pod.ts';
import { type QueueAmounts, queueAmounts } from '#shared/domain/queue/queue.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { LABEL_QUEUE } from '#shared/kube/api-names.ts';
import { isManaged } from '#shared/kube/annotations/annotations.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { ForgedMarks, type IsGuarded } from './forged-marks.ts';
import { putBounded } from '#shared/domain/base/memoize.ts';
import { podRequests, SCHEDULER_VIEW } from '#shared/domain/pod/pod-requests.ts';

/** What a pod has in common with others, which request the same. */
export interface TemplateOf {
  (pod: Pod): Pick<Pod, 'spec'> | undefined;
}

/** Of each kind that pods share; what is beyond is kept more than once. */
const MAX_KEPT = 10_000;

/** What pods request, in the amounts of queues: pods that request the same share one object. */
export class PodAmounts {
  readonly #templateOf: TemplateOf;
  readonly #amounts = new WeakMap<object, QueueAmounts>();
  readonly #kept = new Map<string, QueueAmounts>();

  constructor(templateOf: TemplateOf = () => undefined) {
    this.#templateOf = templateOf;
  }

  /** What a pod requests; pods of one template share it. */
  of(pod: Pod): QueueAmounts {
    const template = this.#templateOf(pod);
    if (template === undefined) return requestsOf(pod);
    const known = this.#amounts.get(template);
    if (known !== undefined) return known;
    const amounts = this.#shared(requestsOf(pod));
    this.#amounts.set(template, amounts);
    return amounts;
  }

  /** Pods of different owners often request the same, and what is one object is counted and judged once. */
  #shared(amounts: QueueAmounts): QueueAmounts {
    const key = Array.from(amounts, ([type, amount]) => `${type}=${amount}`).join();
    return firstEqual(this.#kept, key, amounts);
  }
}

/** Of values that say the same, the first one; the oldest are forgotten. */
export function firstEqual<T>(kept: Map<string, T>, key: string, value: T): T {
  const known = kept.get(key);
  if (known === undefined) putBounded(kept, MAX_KEPT, [key, value]);
  return known ?? value;
}

function requestsOf(pod: Pod): QueueAmounts {
  return queueAmounts(podRequests(pod, SCHEDULER_VIEW));
}

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
  readonly #forged: ForgedMarks;
  readonly #kinds = new Map<string, CountedCharge>();
  readonly #numbers = new WeakMap<QueueAmounts, number>();
  #lastNumber = 0;

  constructor(amounts: PodAmounts, isGuarded?: IsGuarded) {
    this.#amounts = amounts;
    this.#forged = new ForgedMarks(isGuarded);
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
    const admitted = this.#forged.read(raw, { namespaces }, 0);
    // Whether the namespace is managed may not be known yet, and is asked again when charges are read.
    const mayCount = admitted !== undefined || isManaged(namespaces.get(pod.namespace));
    if (!mayCount || !takesRoom(pod)) this.#forget(pod.uid);
    else this.#charge(pod, admitted?.queue);
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
    this.#forged.gone(uid);
    this.#forget(uid);
  }

  #forget(uid: string): void {
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
    this.#forget(pod.uid);
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
