import type { NodeChange, Family } from '#shared/domain/nodes/plan-node-changes.ts';
import { type Backoff, backoffDelay } from '#shared/runtime/repeat.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { KnownNode } from './known-node.ts';

type Written = Pick<KnownNode, 'uid' | 'name'>;

/** Remembers writes to nodes, and backs off if another controller undoes them. */
export interface ContestedWrites {
  /** Whether a change must wait because the same change was written before and has been undone. */
  readonly mustWait: (node: Written, change: NodeChange) => boolean;
  /** The families whose taint must not be added yet. */
  readonly heldOff: (node: Written) => ReadonlySet<Family>;
  /**
   * Records a write. Returns how many times in a row the change has been undone, and when the next attempt is allowed.
   */
  readonly note: (node: Written, change: NodeChange) => Undone;
  /** Nodes on which changes have been undone MANY times in a row. */
  readonly contestedNodes: () => number;
}

export interface Undone {
  readonly times: number;
  readonly waitMs: number;
}

interface OwnWrite extends Undone {
  readonly node: string;
  readonly family: Family;
  readonly target: string;
  readonly at: number;
}

/** From this many times in a row on, another controller is at work and not a coincidence. */
export const MANY_UNDONE = 3;
/** The watch must show a write within this time: until then the change does not count as undone. */
const BACKOFF: Backoff = { initialMs: 5_000, maxMs: 600_000, factor: 2, jitter: 0 };
const FORGOTTEN_AFTER_MS = 3_600_000;
const MAX_REMEMBERED = 25_000;

/** Kept by one leader; the next one starts with an empty record. */
export function createContestedWrites(clock: Pick<Clock, 'monotonic'>): ContestedWrites {
  const writes = new Map<string, OwnWrite>();
  const current = (key: string): OwnWrite | undefined => {
    const known = writes.get(key);
    return known !== undefined && clock.monotonic() - known.at <= FORGOTTEN_AFTER_MS ? known : undefined;
  };
  const isWaiting = ({ at, waitMs }: OwnWrite): boolean => clock.monotonic() - at < waitMs;
  return {
    mustWait: (node, change) => {
      const last = current(keyOf(node, change));
      return last?.target === targetOf(change) && isWaiting(last);
    },
    heldOff: ({ uid }) => {
      const waiting = [...writes.values()].filter((each) => each.node === uid && each.target === 'taint');
      return new Set(waiting.filter(isWaiting).map(({ family }) => family));
    },
    note: (node, change) => {
      const key = keyOf(node, change);
      const written = writeAfter(current(key), node, change, clock.monotonic());
      writes.delete(key);
      writes.set(key, written);
      const [earliest = key] = writes.keys();
      if (writes.size > MAX_REMEMBERED) writes.delete(earliest);
      return written;
    },
    contestedNodes: () => {
      const contested = [...writes].filter(([key, { times }]) => times >= MANY_UNDONE && current(key) !== undefined);
      return new Set(contested.map(([, { node }]) => node)).size;
    },
  };
}

function writeAfter(last: OwnWrite | undefined, { uid }: Written, change: NodeChange, at: number): OwnWrite {
  const target = targetOf(change);
  const times = last?.target === target ? last.times + 1 : 0;
  return { node: uid, family: change.family, target, at, times, waitMs: backoffDelay(BACKOFF, times, 0) };
}

/** A taint and a condition of one family are separate; a node that was created again is a new one. */
function keyOf({ uid, name }: Written, { kind, family }: NodeChange): string {
  return `${kind === 'condition' ? 'condition' : 'taint'}/${family}/${uid}/${name}`;
}

function targetOf(change: NodeChange): string {
  return change.kind === 'condition' ? (change.status ?? 'none') : change.kind;
}
