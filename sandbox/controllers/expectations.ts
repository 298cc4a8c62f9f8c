/** What was created and has not been seen yet: until then its owner must not be counted again. */
export interface Expectations {
  created(ownerUid: string, uid: string): void;
  /** Why an owner must wait; a refused creation is tried again with growing pauses. */
  refused(ownerUid: string): void;
  isWaiting(ownerUid: string, isSeen: (uid: string) => boolean): boolean;
}

interface Debt {
  readonly unseen: Set<string>;
  forgetAt: number;
  refusals: number;
  retryAt: number;
}

/** An object may also have gone before it was seen. */
const FORGET_AFTER_MS = 5_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

/** `now` gives monotonic milliseconds. */
export function createExpectations(now: () => number): Expectations {
  const debts = new Map<string, Debt>();

  function debtOf(ownerUid: string): Debt {
    const known = debts.get(ownerUid);
    if (known !== undefined) return known;
    const debt: Debt = { unseen: new Set(), forgetAt: 0, refusals: 0, retryAt: 0 };
    debts.set(ownerUid, debt);
    return debt;
  }

  return {
    created(ownerUid, uid) {
      const debt = debtOf(ownerUid);
      debt.unseen.add(uid);
      debt.forgetAt = now() + FORGET_AFTER_MS;
      debt.refusals = 0;
    },
    refused(ownerUid) {
      const debt = debtOf(ownerUid);
      debt.retryAt = now() + Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** debt.refusals);
      debt.refusals += 1;
    },
    isWaiting(ownerUid, isSeen) {
      const debt = debts.get(ownerUid);
      if (debt === undefined) return false;
      for (const uid of debt.unseen) if (isSeen(uid) || now() >= debt.forgetAt) debt.unseen.delete(uid);
      const isWaiting = debt.unseen.size > 0 || now() < debt.retryAt;
      if (!isWaiting && debt.refusals === 0) debts.delete(ownerUid);
      return isWaiting;
    },
  };
}
