/** A pod as kube-scheduler sees it. */
export interface SchedulerPod {
  readonly name: string;
  readonly cpu: number;
  readonly priority: number;
  readonly createdAt: number;
  readonly node?: string;
  readonly nominatedTo?: string;
  readonly gates?: readonly string[];
  readonly deletionAt?: number;
  readonly gang?: string;
}

export interface SchedulerSettings {
  /** Whether it takes the emptiest node, as kube-scheduler does unless told otherwise, or the first that fits. */
  readonly spreads?: boolean;
  /** Whether pods that find no node remove pods of lower priority. */
  readonly preempts?: boolean;
  /** Whether it asks our extender, which counts what a gang loses with a victim. */
  readonly hasExtender?: boolean;
}

interface Question<P extends SchedulerPod> extends SchedulerSettings {
  readonly pods: Iterable<P>;
  /** CPUs by node. */
  readonly sizes: ReadonlyMap<string, number>;
  /** Whether kube-scheduler knows that the pod is nominated. */
  readonly knows: (name: string) => boolean;
}

export type Scheduled<P extends SchedulerPod> =
  | { readonly kind: 'Bound'; readonly pod: P; readonly node: string }
  | { readonly kind: 'Preempts'; readonly pod: P; readonly node: string; readonly victims: readonly P[] }
  | { readonly kind: 'Unplaced'; readonly pod: P };

/** One turn of kube-scheduler: all pods without gate and node, by priority and age. */
export function scheduleAll<P extends SchedulerPod>(question: Question<P>): readonly Scheduled<P>[] {
  const pods = [...question.pods];
  const pending = pods.filter((pod) => isPending(pod));
  if (pending.length === 0) return [];
  const turn = new Turn(question, pods);
  pending.sort((a, b) => b.priority - a.priority || a.createdAt - b.createdAt);
  return pending.map((pod) => turn.schedule(pod));
}

function isPending({ gates = [], node, deletionAt }: SchedulerPod): boolean {
  return gates.length === 0 && node === undefined && deletionAt === undefined;
}

class Turn<P extends SchedulerPod> {
  readonly #question: Question<P>;
  /** What is on a node, and what is nominated to it. */
  readonly #on: ReadonlyMap<string, { readonly bound: P[]; readonly nominated: P[] }>;

  constructor(question: Question<P>, pods: readonly P[]) {
    this.#question = question;
    this.#on = new Map(Array.from(question.sizes.keys(), (node) => [node, { bound: [], nominated: [] }]));
    for (const pod of pods) {
      if (pod.node !== undefined) this.#on.get(pod.node)?.bound.push(pod);
      else if (pod.nominatedTo !== undefined && question.knows(pod.name))
        this.#on.get(pod.nominatedTo)?.nominated.push(pod);
    }
  }

  schedule(pod: P): Scheduled<P> {
    const nominatedTo = this.#question.knows(pod.name) ? pod.nominatedTo : undefined;
    const node = nominatedTo !== undefined && this.#fits(nominatedTo, pod) ? nominatedTo : this.#best(pod);
    if (node !== undefined) return this.#bind(pod, node);
    // It waits for the end of what was removed for it.
    const hasVictims = this.#on.get(nominatedTo ?? '')?.bound.some(({ deletionAt }) => deletionAt !== undefined);
    if (nominatedTo !== undefined && hasVictims === true)
      return { kind: 'Preempts', pod, node: nominatedTo, victims: [] };
    return this.#question.preempts === true ? this.#preempt(pod) : { kind: 'Unplaced', pod };
  }

  #bind(pod: P, node: string): Scheduled<P> {
    const on = this.#on.get(node);
    on?.bound.push(pod);
    for (const { nominated } of this.#on.values()) {
      const at = nominated.indexOf(pod);
      if (at >= 0) nominated.splice(at, 1);
    }
    return { kind: 'Bound', pod, node };
  }

  #best(pod: P): string | undefined {
    const { sizes, spreads = false } = this.#question;
    let best: { readonly node: string; readonly share: number } | undefined;
    for (const [node, size] of sizes) {
      const free = this.#free(node, pod);
      if (free < pod.cpu || (best !== undefined && free / size <= best.share)) continue;
      if (!spreads) return node;
      best = { node, share: free / size };
    }
    return best?.node;
  }

  #fits(node: string, pod: P): boolean {
    return this.#free(node, pod) >= pod.cpu;
  }

  #free(node: string, pod: P): number {
    const { bound = [], nominated = [] } = this.#on.get(node) ?? {};
    const ahead = nominated.filter((each) => each.priority >= pod.priority && each.name !== pod.name);
    return (this.#question.sizes.get(node) ?? 0) - sumOf(bound) - sumOf(ahead);
  }

  /** The node whose highest victim is lowest, then the one with the lowest sum and the fewest. */
  #preempt(pod: P): Scheduled<P> {
    const [best] = [...this.#on.keys()]
      .flatMap((node) => this.#victimsOn(node, pod))
      .sort((a, b) => a.highest - b.highest || a.sum - b.sum || a.count - b.count);
    if (best === undefined) return { kind: 'Unplaced', pod };
    const { node, victims } = best;
    this.#on.get(node)?.nominated.push(pod);
    return { kind: 'Preempts', pod, node, victims };
  }

  #victimsOn(node: string, pod: P) {
    const lower = (this.#on.get(node)?.bound ?? []).filter(
      (each) => each.priority < pod.priority && each.deletionAt === undefined,
    );
    const victims: P[] = [];
    let free = this.#free(node, pod);
    for (const each of lower.toSorted((a, b) => a.priority - b.priority || b.createdAt - a.createdAt)) {
      if (free >= pod.cpu) break;
      victims.push(each);
      free += each.cpu;
    }
    if (free < pod.cpu) return [];
    const priorities = [...victims, ...this.#lostWith(victims)].map(({ priority }) => priority);
    // As kube-scheduler sums them: each pod counts, whatever its priority.
    const sum = priorities.reduce((total, priority) => total + priority + 2 ** 31, 0);
    return [{ node, victims, highest: Math.max(...priorities), sum, count: priorities.length }];
  }

  /** The other pods of a gang of which one goes, since all have to run. */
  #lostWith(victims: readonly P[]): readonly P[] {
    const gangs = new Set(victims.flatMap(({ gang }) => gang ?? []));
    if (this.#question.hasExtender !== true || gangs.size === 0) return [];
    const all = Array.from(this.#on.values(), ({ bound }) => bound).flat();
    return all.filter(
      (pod) => pod.gang !== undefined && gangs.has(pod.gang) && isRunning(pod) && !victims.includes(pod),
    );
  }
}

function isRunning({ node, deletionAt }: SchedulerPod): boolean {
  return node !== undefined && deletionAt === undefined;
}

function sumOf(pods: readonly SchedulerPod[]): number {
  return pods.reduce((sum, { cpu }) => sum + cpu, 0);
}
