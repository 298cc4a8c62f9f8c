import type { LedgerObject } from './ledger-object.ts';
import type { PodCounts } from './pod-counts.ts';
import { isSameCount, type Count } from './settle-batch.ts';
import type { OpenWish } from './wish-queue.ts';

/** A count that is ready to be written, and those who wait for one. */
export interface CountKeeper {
  readonly isReady: boolean;
  /** Takes it out; nothing where it does not fit the ledger as it is now. */
  take(base: LedgerObject): Count | undefined;
  /** After a write that did not take effect. */
  putBack(count: Count | undefined): void;
  drop(): void;
  /** Lets them wait for the next count, which is made when it is due. */
  park(wishes: readonly OpenWish[]): void;
  /** Makes one now; one at a time. Rejects when ledger or pods cannot be read. */
  prepare(): Promise<void>;
}

export interface CountKeeperOptions {
  readonly counts: PodCounts;
  /** Waits after a count that failed. */
  readonly pause: () => Promise<void>;
  /** Told after every count, also one that failed, who waited for it. */
  readonly resume: (wishes: readonly OpenWish[], count: Count | undefined) => void;
}

export function createCountKeeper({ counts, pause, resume }: CountKeeperOptions): CountKeeper {
  let ready: Count | undefined;
  let parked: OpenWish[] = [];
  let counting: Promise<void> | undefined;

  async function prepareAfter(wait: () => Promise<void>): Promise<void> {
    try {
      await wait();
      ready = (await counts.prepare()) ?? ready;
    } catch (error) {
      await pause();
      throw error;
    } finally {
      counting = undefined;
      const wishes = parked;
      parked = [];
      resume(wishes, ready);
    }
  }

  return {
    get isReady() {
      return ready !== undefined;
    },
    take: (base) => {
      const taken = ready;
      ready = undefined;
      if (taken === undefined || isSameCount(base, taken.begun)) return taken;
      counts.done();
      return undefined;
    },
    putBack: (count) => void (ready ??= count),
    drop: () => void (ready = undefined),
    park: (wishes) => {
      if (wishes.length === 0) return;
      parked.push(...wishes);
      counting ??= prepareAfter(() => counts.untilDue());
      // Where it fails, the regular count says so, and who waits is told in time.
      counting.catch(() => undefined);
    },
    prepare: () => (counting ??= prepareAfter(() => Promise.resolve())),
  };
}
