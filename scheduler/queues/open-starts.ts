import type { ExpectedPod, NodeOf } from '#shared/domain/placement/together/place-together.ts';
import type { QueuedPods } from '#shared/decide/queues/queued-pods.ts';

/** A gang whose nominations are being written or whose gates are taken off. */
interface OpenStart {
  readonly nodeOf: NodeOf;
  readonly done: Promise<void>;
}

/** Each has as many requests open as there may be for one list. */
const MAX_STARTS = 16;
/** Beyond, none begins: what is set aside and not yet let in keeps others out, and each pod is two writes. */
const MAX_PODS = 1_000;

/** The gangs that are being started, by name. */
export class OpenStarts {
  readonly #starts = new Map<string, OpenStart>();

  has(gang: string): boolean {
    return this.#starts.has(gang);
  }

  add(gang: string, start: OpenStart): void {
    this.#starts.set(gang, start);
  }

  delete(gang: string): void {
    this.#starts.delete(gang);
  }

  /** Whether no other gang begins to start now. */
  isFull(): boolean {
    const pods = this.#all().reduce((sum, { nodeOf }) => sum + nodeOf.size, 0);
    return this.#starts.size >= MAX_STARTS || pods >= MAX_PODS;
  }

  hasPod(uid: string): boolean {
    for (const { nodeOf } of this.#starts.values()) if (nodeOf.has(uid)) return true;
    return false;
  }

  /** What they are about to get. */
  expected(pods: Pick<QueuedPods, 'get'>): ReadonlyMap<string, ExpectedPod> {
    const expected = new Map<string, ExpectedPod>();
    for (const { nodeOf } of this.#starts.values()) {
      for (const [uid, node] of nodeOf) {
        const pod = pods.get(uid)?.unplaced;
        if (pod !== undefined) expected.set(uid, { pod, node });
      }
    }
    return expected;
  }

  async settled(): Promise<void> {
    await Promise.all(this.#all().map(({ done }) => done));
  }

  #all(): readonly OpenStart[] {
    return [...this.#starts.values()];
  }
}
