import type { ExpectedPod, NodeOf } from '#shared/domain/placement/together/place-together.ts';
import type { QueuedPods } from '#shared/decide/queues/queued-pods.ts';

/** A gang whose nominations are being written or whose gates are taken off. */
interface OpenStart {
  readonly nodeOf: NodeOf;
  readonly done: Promise<void>;
}

/** Each has as many requests open as there may be for one list. */
const MAX_STARTS = 16;
/** Of one namespace, so that a tenant with many gangs leaves starts to others. */
const MAX_OF_NAMESPACE = 8;
/** With so many pods of a namespace none of its gangs begins: what is set aside and not yet let in keeps others out. */
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

  /** Whether this gang, `namespace/name`, does not begin to start now. */
  isFullFor(gang: string): boolean {
    const namespace = gang.slice(0, gang.indexOf('/') + 1);
    const own = [...this.#starts].filter(([name]) => name.startsWith(namespace));
    const pods = own.reduce((sum, [, { nodeOf }]) => sum + nodeOf.size, 0);
    return this.#starts.size >= MAX_STARTS || own.length >= MAX_OF_NAMESPACE || pods >= MAX_PODS;
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
