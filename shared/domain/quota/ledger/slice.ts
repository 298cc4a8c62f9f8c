import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import { compareQuantities, multiplyQuantity, quantitySign, type Quantity } from '#shared/domain/quantity/quantity.ts';

/** A part of a quota's room that one replica may spend alone. */
export interface Slice {
  /** One run of one process: a name that is never reused. */
  readonly holder: string;
  /** What was spent and not yet counted plus what may still be spent; all of it is in `used`. */
  readonly amounts: Amounts;
  /** Increases with every write of the holder, so that others see it is alive. */
  readonly renewals: number;
  /** Another replica needs the room: the holder must give the slice back at once. */
  readonly recallRequested: boolean;
}

/** The recent demand of one replica. */
export interface Demand {
  readonly pods: number;
  /** The highest cost of any of them, by resource. */
  readonly largest: Amounts;
}

/** Room for this many pods of the largest kind. */
export interface Grant {
  readonly pods: number;
  readonly amounts: Amounts;
}

/** A slice covers this multiple of the recent demand. */
const AHEAD = 2;
/** Share of the free room: several replicas take slices, and near the limit all of them together must leave some. */
const SHARE_OF_ROOM = 1 / 8;
/** Fewer pods are cheaper as reservations. */
const FEWEST_PODS = 4;

/**
 * The slice that a replica may take of `room` (the free amount of every limited resource); `undefined` if it would be
 * too small. At most an eighth of the room, so that the last of it is given out one reservation at a time.
 */
export function sizeSlice({ pods, largest }: Demand, room: Amounts): Grant | undefined {
  let most = pods * AHEAD;
  for (const [resource, free] of room) {
    const cost = largest.get(resource);
    if (cost !== undefined && quantitySign(cost) > 0) most = Math.min(most, timesIn(free, cost) * SHARE_OF_ROOM);
  }
  const size = Math.floor(most);
  if (size < FEWEST_PODS) return undefined;
  return { pods: size, amounts: new Map(Array.from(largest, ([name, cost]) => [name, multiplyQuantity(cost, size)])) };
}

/** How often an amount fits into another; only a share of the result is used, so rounding does no harm. */
function timesIn(whole: Quantity, part: Quantity): number {
  return (Number(whole.mantissa) / Number(part.mantissa)) * 10 ** (whole.exponent - part.exponent);
}

/** Whether `free` is enough in each requested resource. */
export function covers(free: Amounts, asked: Amounts): boolean {
  for (const [name, amount] of asked) {
    if (quantitySign(amount) <= 0) continue;
    const present = free.get(name);
    if (present === undefined || compareQuantities(present, amount) < 0) return false;
  }
  return true;
}
