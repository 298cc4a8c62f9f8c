import { minus, plus, type Whole } from '#shared/domain/quantity/whole.ts';
import type { QueueAmounts } from './queue.ts';
import type { RunningPod } from './queue-pod.ts';
import { addAmounts } from './usage.ts';

/** Queues that share by weight, as a pass of two stages sees them (S4-1, S4-2, S4-14). */
export interface Allocations {
  readonly total: QueueAmounts;
  readonly queues: readonly QueueAllocation[];
  /** What has been taken and has not come free. */
  readonly transfers: readonly Transfer[];
  /** How many more pods each disruption budget or limit lets go now. */
  readonly budgets: ReadonlyMap<string, number>;
}

export interface QueueAllocation {
  readonly name: string;
  readonly deserved: QueueAmounts;
  /** What it may use: pods go in only up to here. */
  readonly allocated: QueueAmounts;
  /** Everything that was let in and has not gone, running or not. */
  readonly pods: readonly AllocatedPod[];
}

export interface AllocatedPod extends RunningPod {
  readonly isTerminating?: boolean;
}

/** An amount on the way from one queue to another: it arrives when the victims are gone (S4-8). */
export interface Transfer {
  readonly from: string;
  readonly to: string;
  readonly amounts: QueueAmounts;
  /** UIDs. */
  readonly victims: readonly string[];
}

/** What the pods of a queue use; those that are terminating until they are gone. */
export function usedOf({ pods }: QueueAllocation): QueueAmounts {
  return sumAmounts(pods.map(({ requests }) => requests));
}

/** What will be used once all that is terminating has gone. */
export function usedLater({ pods }: QueueAllocation): QueueAmounts {
  return sumAmounts(pods.filter(({ isTerminating }) => isTerminating !== true).map(({ requests }) => requests));
}

/** What is on its way to a queue. */
export function preemptingOf({ transfers }: Allocations, name: string): QueueAmounts {
  return sumAmounts(transfers.filter(({ to }) => to === name).map(({ amounts }) => amounts));
}

/** Hands over what has come free: transfers none of whose victims is left. */
export function completeTransfers(state: Allocations): Allocations {
  const present = new Set(state.queues.flatMap(({ pods }) => pods.map(({ uid }) => uid)));
  const isOpen = ({ victims }: Transfer): boolean => victims.some((uid) => present.has(uid));
  const done = state.transfers.filter((transfer) => !isOpen(transfer));
  return {
    ...state,
    transfers: state.transfers.filter(isOpen),
    queues: state.queues.map((queue) => {
      const arrived = done.filter(({ to }) => to === queue.name).map(({ amounts }) => amounts);
      return arrived.length === 0 ? queue : { ...queue, allocated: sumAmounts([queue.allocated, ...arrived]) };
    }),
  };
}

/** The sum of amounts, type by type. */
export function sumAmounts(all: readonly QueueAmounts[]): QueueAmounts {
  const sums = new Map<string, Whole>();
  for (const amounts of all) addAmounts(sums, amounts);
  return sums;
}

/** One type changed by so much. */
export function changeAmount(amounts: QueueAmounts, type: string, by: Whole): QueueAmounts {
  return new Map(amounts).set(type, plus(amounts.get(type) ?? 0, by));
}

/** How much of one type is above another amount; 0 where none is. */
export function excessAbove(amounts: QueueAmounts, floor: QueueAmounts, type: string): Whole {
  const excess = minus(amounts.get(type) ?? 0, floor.get(type) ?? 0);
  return excess > 0 ? excess : 0;
}
