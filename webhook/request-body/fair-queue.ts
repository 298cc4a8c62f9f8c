import { SERVICE_ACCOUNT_PREFIX } from '#shared/domain/priority/classes-and-policies.ts';
import type { AdmissionRequest } from '#shared/domain/admission/request.ts';

/** Runs one entry at a time; the others wait. */
interface FairQueue {
  /**
   * Calls `begin` at once or when the entry's turn comes. Returns a share that ends the turn or leaves the queue;
   * `begin` receives the same. `undefined` when the queue is full.
   */
  enter(holders: readonly string[], begin: (turn: TakenShare) => void): TakenShare | undefined;
}

interface WaitingHolder {
  readonly holder: string;
  readonly begin: (turn: TakenShare) => void;
  /** The slot in the queue. */
  readonly place: TakenShare;
}

const NO_PLACE: TakenShare = { end: () => undefined };

/**
 * A queue of at most `longest` entries that no single holder can fill. Holders are served in turn, so that none waits
 * for all entries of another.
 */
export function createFairQueue(longest: number): FairQueue {
  const places = createFairShares(longest);
  /** By holder; the holder served last comes last. */
  const lines = new Map<string, readonly WaitingHolder[]>();
  let current: WaitingHolder | undefined;

  function start(entry: WaitingHolder): void {
    entry.place.end();
    current = entry;
    entry.begin(turnOf(entry));
  }

  function turnOf(entry: WaitingHolder): TakenShare {
    return { end: () => (entry === current ? startNext() : leave(entry)) };
  }

  function startNext(): void {
    current = undefined;
    const [first] = lines;
    const [holder = '', [next, ...rest] = []] = first ?? [];
    if (next === undefined) return;
    lines.delete(holder);
    if (rest.length > 0) lines.set(holder, rest);
    start(next);
  }

  function leave(entry: WaitingHolder): void {
    entry.place.end();
    const rest = (lines.get(entry.holder) ?? []).filter((each) => each !== entry);
    if (rest.length === 0) lines.delete(entry.holder);
    else lines.set(entry.holder, rest);
  }

  return {
    enter: (holders, begin) => {
      const place = current === undefined ? NO_PLACE : places.take(holders, 1);
      if (place === undefined) return undefined;
      const [holder = ''] = holders;
      const entry = { holder, begin, place };
      if (current === undefined) start(entry);
      else lines.set(holder, [...(lines.get(holder) ?? []), entry]);
      return turnOf(entry);
    },
  };
}

/** A share that a holder has taken. */
export interface TakenShare {
  /** Gives it back; further calls do nothing. */
  end(): void;
}

/** A limited amount that many holders share fairly. */
interface FairShares {
  /** Takes a share of `cost`; `undefined` if one of the holders has reached its limit. */
  take(holders: readonly string[], cost: number): TakenShare | undefined;
}

/**
 * Each holder is limited to the amount that is free, as in switches that share their buffers (Choudhury and Hahne,
 * dynamic thresholds): a single holder gets half of `total`, each of n greedy holders gets 1/(n+1), and the same amount
 * stays free for the next one.
 */
export function createFairShares(total: number): FairShares {
  const held = new Map<string, number>();
  let free = total;

  function add(holders: readonly string[], cost: number): void {
    free -= cost;
    for (const holder of holders) {
      const now = (held.get(holder) ?? 0) + cost;
      if (now === 0) held.delete(holder);
      else held.set(holder, now);
    }
  }

  return {
    take: (holders, cost) => {
      if (cost > free || holders.some((holder) => (held.get(holder) ?? 0) + cost > free)) return undefined;
      add(holders, cost);
      let isHeld = true;
      return {
        end: () => {
          if (isHeld) add(holders, -cost);
          isHeld = false;
        },
      };
    },
  };
}

/** The sender of a review, if known. */
interface ReviewSender {
  readonly namespace: string | undefined;
  readonly username: string | undefined;
}

const CONTROLLER = `${SERVICE_ACCOUNT_PREFIX}kube-system:`;

/**
 * The holders that share a budget for a review: its namespace, and its user unless that is a Kubernetes component,
 * which acts for every namespace. If neither is known, the holder is `unknown`.
 */
export function holdersOf({ namespace, username }: ReviewSender): readonly string[] {
  const holders = [
    ...(namespace === undefined || namespace === '' ? [] : [`namespace ${namespace}`]),
    ...(username === undefined || actsForAll(username) ? [] : [`user ${username}`]),
  ];
  return holders.length === 0 && namespace === undefined ? ['unknown'] : holders;
}

function actsForAll(username: string): boolean {
  if (username.startsWith(CONTROLLER)) return true;
  return username.startsWith('system:') && !username.startsWith(SERVICE_ACCOUNT_PREFIX);
}

/** Many timeouts of the same length. */
interface SharedTimeout {
  /** Calls back after the timeout; returns a function that cancels it. */
  add(onLate: () => void): () => void;
}

interface Wait {
  readonly dueAt: number;
  readonly onLate: () => void;
}

/** One timer for all of them, because one per request would be expensive. The oldest timeout ends first. */
export function createSharedTimeout(ms: number): SharedTimeout {
  const waits = new Set<Wait>();
  let isArmed = false;

  function arm(inMs: number): void {
    isArmed = true;
    setTimeout(check, Math.max(1, Math.ceil(inMs))).unref();
  }

  function check(): void {
    isArmed = false;
    const now = performance.now();
    for (const wait of waits) {
      if (wait.dueAt > now) {
        arm(wait.dueAt - now);
        return;
      }
      waits.delete(wait);
      wait.onLate();
    }
  }

  return {
    add: (onLate) => {
      const wait = { dueAt: performance.now() + ms, onLate };
      waits.add(wait);
      if (!isArmed) arm(ms);
      return () => void waits.delete(wait);
    },
  };
}

/** Reviews whose decision has to wait for the API server. */
export interface PendingReviews {
  /**
   * Takes a slot until the review is decided; `undefined` when too many reviews wait, or too many of the same namespace
   * or user.
   */
  begin(review: {
    readonly request: Pick<AdmissionRequest, 'namespace' | 'requester'>;
    readonly heldBytes: number;
  }): TakenShare | undefined;
}

/** Maximum memory of all waiting reviews together. */
const TOGETHER_BYTES = 16 * 1024 * 1024;

/** A review larger than this still gets a slot when no other review waits. */
const LARGEST_SHARE = TOGETHER_BYTES / 2;

/** At most `most` at once, fewer if they are large. */
export function createPendingReviews(most: number): PendingReviews {
  const shares = createFairShares(TOGETHER_BYTES);
  return {
    begin: ({ request, heldBytes }) => {
      const sender = { namespace: request.namespace, username: request.requester.name };
      const cost = Math.max(heldBytes, TOGETHER_BYTES / most);
      return shares.take(holdersOf(sender), Math.min(cost, LARGEST_SHARE));
    },
  };
}
