import type { Amounts } from '#shared/domain/model/amounts.ts';
import { compareQuantities, multiplyQuantity, quantitySign, type Quantity } from '#shared/domain/model/quantity.ts';

/** A part of a quota's room that one replica may spend alone. */
export interface Slice {
  /** One run of one process: a name that never comes back. */
  readonly holder: string;
  /** What was spent and not yet counted, and what may still be spent, together; all of it is in `used`. */
  readonly amounts: Amounts;
  /** Rises with every write of the holder, so that others see it live. */
  readonly renewals: number;
  /** Somebody else needs the room: the holder shall give it back at once. */
  readonly recallRequested: boolean;
}

/** What one replica has been asked for lately. */
export interface Demand {
  readonly pods: number;
  /** The most that any of them cost, by resource. */
  readonly largest: Amounts;
}

/** Room to spend: for so many pods of the largest kind. */
export interface Grant {
  readonly pods: number;
  readonly amounts: Amounts;
}

/** As much again as was asked for lately, twice. */
const AHEAD = 2;
/** Of what is free: several replicas take a slice, and near the limit all of them together must leave some. */
const SHARE_OF_ROOM = 1 / 8;
/** Fewer are cheaper as reservations. */
const FEWEST_PODS = 4;

/**
 * The slice that a replica may take of `room` (what is free of every limited resource); none where that is too little to
 * be worth it. At most an eighth of the room, so that the last of it is given out one reservation at a time.
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

/** How often an amount goes into another; a share of that is taken, so that a rounded last digit does no harm. */
function timesIn(whole: Quantity, part: Quantity): number {
  return (Number(whole.mantissa) / Number(part.mantissa)) * 10 ** (whole.exponent - part.exponent);
}

/** Whether there is so much in each resource that is asked for. */
export function covers(free: Amounts, asked: Amounts): boolean {
  for (const [name, amount] of asked) {
    if (quantitySign(amount) <= 0) continue;
    const present = free.get(name);
    if (present === undefined || compareQuantities(present, amount) < 0) return false;
  }
  return true;
}
