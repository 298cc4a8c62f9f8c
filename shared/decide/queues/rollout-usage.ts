import type { LetInDecision, LetInQuestion } from '#shared/domain/queue/let-in.ts';
import { larger, minus, plus, type Whole } from '#shared/domain/quantity/whole.ts';
import { NO_QUEUE_AMOUNTS, type QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { pathOf } from '#shared/domain/queue/queue-tree.ts';
import { addToPath, copyUsage, usedBy } from '#shared/domain/queue/usage.ts';

/** A pod, and what the one requests that it replaces. */
export interface Exchange {
  readonly pod: WaitingPod;
  readonly replaced: QueueAmounts;
}

interface UsageInput {
  readonly question: Pick<LetInQuestion, 'tree' | 'allowed'>;
  readonly decision: Pick<LetInDecision, 'usage'>;
}

/** A mark has to be read again. */
const MAX_TYPES = 16;

/** What queues use, with the pods that go in against others in this pass. */
export class UsageInPass {
  readonly #question: UsageInput['question'];
  readonly #usage: Map<string, Whole[]>;

  constructor({ question, decision }: UsageInput) {
    this.#question = question;
    this.#usage = copyUsage(decision.usage);
  }

  enter({ queue, requests }: WaitingPod): void {
    addToPath(this.#usage, this.#question.tree, this.#path(queue), requests);
  }

  isAboveLimits(queue: string): boolean {
    return this.#limitsOf(queue).some(({ index, limits }) => this.#exceeds(index, limits));
  }

  isAbove(queue: string, amounts: QueueAmounts): boolean {
    return this.#exceeds(this.#own(queue), amounts);
  }

  /** Whether its queue has no more than these amounts with the pod. */
  isWithin({ queue, requests }: WaitingPod, amounts: QueueAmounts): boolean {
    const own = this.#own(queue);
    return Array.from(amounts).every(([type, most]) => plus(this.#used(own, type), requests.get(type) ?? 0) <= most);
  }

  /** A type of which the queue, or one above it, would have more than it may once the other pod is gone. */
  typeThatGrows({ pod, replaced }: Exchange): string | undefined {
    for (const { index, limits } of this.#limitsOf(pod.queue)) {
      for (const [type, amount] of pod.requests) {
        const before = replaced.get(type) ?? 0;
        const after = plus(minus(this.#used(index, type), before), amount);
        if (amount > before && after > (limits.get(type) ?? Infinity)) return type;
      }
    }
    return undefined;
  }

  /** What its queue has now of the types of which it has too much with the pod, or had in rollouts that are not over. */
  usedBefore({ queue, requests }: WaitingPod, former: readonly (QueueAmounts | undefined)[]): QueueAmounts {
    const own = this.#own(queue);
    const before = new Map<string, Whole>();
    const note = (type: string, amount: Whole) => before.set(type, larger(before.get(type) ?? 0, amount));
    for (const amounts of former) for (const [type, amount] of amounts ?? NO_QUEUE_AMOUNTS) note(type, amount);
    for (const { index, limits } of this.#limitsOf(queue)) {
      for (const [type, amount] of requests) {
        const isFull = amount > 0 && plus(this.#used(index, type), amount) > (limits.get(type) ?? Infinity);
        if (isFull) note(type, this.#used(own, type));
      }
    }
    return new Map([...before].slice(0, MAX_TYPES));
  }

  #exceeds(index: number, amounts: QueueAmounts): boolean {
    return Array.from(amounts).some(([type, amount]) => this.#used(index, type) > amount);
  }

  #used(index: number, type: string): Whole {
    return usedBy(this.#usage, index, type);
  }

  #own(queue: string): number {
    return this.#question.tree.indexes.get(queue) ?? 0;
  }

  #path(queue: string): readonly number[] {
    return pathOf(this.#question.tree, this.#own(queue));
  }

  /** What the queue and those above it may have, by their numbers. */
  #limitsOf(queue: string) {
    const { tree, allowed } = this.#question;
    const maximums = this.#path(queue).map((index) => ({ index, limits: tree.queues[index]?.max ?? NO_QUEUE_AMOUNTS }));
    return [...maximums, { index: this.#own(queue), limits: allowed.get(queue) ?? NO_QUEUE_AMOUNTS }];
  }
}
