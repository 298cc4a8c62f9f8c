import type { Amounts } from '#shared/domain/quantity/quantity.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { PodView } from '#shared/domain/quota/view/pod-view.ts';
import { QuotaCounter, type QuotaCount } from '#shared/domain/quota/view/quota-counter.ts';
import { viewOf } from '#test/build/pod-count.ts';

export interface StandingPods {
  readonly pods: number;
  readonly namespaces: number;
  /** Of each pod. */
  readonly cost: Amounts;
}

/** Pods as a replica of the webhook sees them, counted for one quota. */
export class CountedPods {
  readonly #view: PodView;
  readonly #counter: QuotaCounter;
  readonly #quota: PriorityQuota;
  readonly #cost: Amounts;
  #revision: number;

  /** Starts with pods spread over namespaces `team-0`, `team-1` and so on, all of them counted. */
  constructor(quota: PriorityQuota, { pods, namespaces, cost }: StandingPods) {
    const standing = Array.from({ length: pods }, (_, index) => ({
      uid: `standing-${index}`,
      namespace: `team-${index % namespaces}`,
      amounts: cost,
    }));
    this.#view = viewOf([...quota.hard.keys()], standing);
    this.#counter = new QuotaCounter(this.#view);
    this.#quota = quota;
    this.#cost = cost;
    this.#revision = pods;
    // Each call processes some of the namespaces.
    while (this.#tryCount() === undefined) if (this.#counter.isTakenUp) throw new Error('the view is not whole');
  }

  appear({ uid, namespace, pod }: { readonly uid: string; readonly namespace: string; readonly pod: string }): void {
    this.#revision += 1;
    const level = { className: 'high', priority: 0 };
    const amounts = this.#cost;
    this.#view.put({ uid, namespace, name: pod, revision: this.#revision, generation: 1, level, amounts });
    this.#view.reach(this.#revision);
  }

  /** The pod ends, so that the cluster does not grow. */
  disappear({ uid, namespace }: { readonly uid: string; readonly namespace: string }): void {
    this.#revision += 1;
    this.#view.remove({ uid, namespace, revision: this.#revision });
  }

  count(): QuotaCount {
    const count = this.#tryCount();
    if (count === undefined) throw new Error('the view is not whole');
    return count;
  }

  #tryCount(): QuotaCount | undefined {
    return this.#counter.count(this.#quota, 'q', 1);
  }
}
