import { endOveruse, type Overuse } from '#shared/domain/queue/overuse.ts';
import type { Queue } from '#shared/domain/queue/queue.ts';
import type { RunningPod } from '#shared/domain/queue/queue-pod.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { inChunks } from '#shared/runtime/turns/turns.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import type { QueueEvictions } from './queue-evictions.ts';
import { readRoomState, type RoomInput } from '#shared/decide/queues/room-state.ts';

/** Makes queues give back what exceeds their maximum, each after its delay. */
export class QueueOveruse {
  readonly #ports: Pick<ClientContext, 'clock' | 'log'>;
  readonly #evictions: QueueEvictions;
  /** When each queue exceeded its maximum, or when evictions for that last began. */
  readonly #since = new Map<string, number>();
  readonly #ending = new Map<string, Promise<unknown>>();

  constructor(ports: Pick<ClientContext, 'clock' | 'log'>, evictions: QueueEvictions) {
    this.#ports = ports;
    this.#evictions = evictions;
  }

  /** Resolves when no eviction is open. */
  async settled(): Promise<void> {
    await Promise.all(this.#ending.values());
  }

  /** Starts to evict pods of queues whose delay is over. */
  async end(plan: QueuePlan, input: RoomInput, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#ports;
    const due = this.#due(plan);
    if (due.length === 0) return;
    const state = await inChunks(readRoomState(input), clock, signal);
    for (const overuse of await inChunks(endOveruse(state, due, plan.shares), clock, signal)) {
      const { queue, victims, because } = overuse;
      this.#since.set(queue, clock.monotonic());
      log.info({ queue, because, victims: victims.map(({ pod }) => pod.name) }, 'Queue above its maximum');
      this.#evict(overuse);
    }
  }

  /** By number. */
  #due({ directory: { tree }, overused }: QueuePlan): readonly number[] {
    const now = this.#ports.clock.monotonic();
    const names = new Set(overused.map((index) => tree.queues[index]?.name ?? ''));
    for (const name of this.#since.keys()) if (!names.has(name)) this.#since.delete(name);
    for (const name of names) if (!this.#since.has(name)) this.#since.set(name, now);
    return overused.filter((index) => {
      const { name, preemption } = tree.queues[index] as Queue;
      return now - (this.#since.get(name) ?? now) >= preemption.delayMs && !this.#ending.has(name);
    });
  }

  #evict({ queue, victims, because }: Overuse): void {
    const nodes = new Map(victims.map(({ pod, node }) => [pod.uid, node]));
    const pods = victims.map(({ pod }) => pod);
    const nodeOf = ({ uid }: RunningPod): string => nodes.get(uid) ?? '';
    this.#evictions.announce(pods);
    const evicted = this.#evictions.evictAll(pods, { queue, because, textFor: () => because.text, nodeOf });
    this.#ending.set(
      queue,
      evicted.finally(() => this.#ending.delete(queue)),
    );
  }
}
