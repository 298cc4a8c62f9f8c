import { putBounded } from '#shared/domain/model/memoize.ts';
import { podRequests, SCHEDULER_VIEW } from '#shared/domain/pod/pod-requests.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { type QueueAmounts, queueAmounts } from '#shared/domain/queue/queue.ts';

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
    return keptOnce(this.#kept, key, amounts);
  }
}

/** Of values that say the same the first one. */
export function keptOnce<T>(kept: Map<string, T>, key: string, value: T): T {
  const known = kept.get(key);
  if (known === undefined) putBounded(kept, MAX_KEPT, [key, value]);
  return known ?? value;
}

function requestsOf(pod: Pod): QueueAmounts {
  return queueAmounts(podRequests(pod, SCHEDULER_VIEW));
}
