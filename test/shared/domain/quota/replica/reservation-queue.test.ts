import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PendingReservation, ReservationQueue } from '#shared/domain/quota/replica/apply-batch.ts';
import { pendingOf } from './replica-rig.ts';

const SEED = 20_261_127;

/** What a queue must do, on one list of all reservations with the state of each. */
class QueueModel {
  #all: { readonly pending: PendingReservation; place: 'queued' | 'deferred' | 'taken' }[] = [];

  add(pending: PendingReservation): void {
    this.#all.push({ pending, place: 'queued' });
  }

  in(place: 'queued' | 'deferred' | 'taken'): readonly PendingReservation[] {
    return this.#all.filter((each) => each.place === place).map(({ pending }) => pending);
  }

  /** Moves to the end of a place, or to its front. */
  move(pending: readonly PendingReservation[], place: 'queued' | 'deferred' | 'taken', isFirst = false): void {
    const moved = pending.flatMap((each) => this.#all.filter((other) => other.pending === each));
    const rest = this.#all.filter((each) => !moved.includes(each));
    for (const each of moved) each.place = place;
    this.#all = isFirst ? [...moved, ...rest] : [...rest, ...moved];
  }

  close(pending: PendingReservation): boolean {
    const isOpen = this.#all.some((each) => each.pending === pending);
    this.#all = this.#all.filter((each) => each.pending !== pending);
    return isOpen;
  }

  late(now: number): readonly PendingReservation[] {
    return this.#all.map(({ pending }) => pending).filter(({ giveUpAt }) => giveUpAt <= now);
  }
}

/** A queue, its model, and what was taken from both. */
function createBoth() {
  const queue = new ReservationQueue();
  const model = new QueueModel();
  let last = 0;
  let held: readonly PendingReservation[] = [];

  function take(most: number): void {
    const taken = queue.take(most);
    expect(taken).toEqual(model.in('queued').slice(0, most));
    model.move(taken, 'taken');
    held = [...held, ...taken];
  }

  function handOver(): readonly PendingReservation[] {
    const all = held;
    held = [];
    return all;
  }

  return {
    add: (giveUpAt: number) => {
      const pending = pendingOf(`pod-${(last += 1)}`, '1Gi', { giveUpAt });
      queue.add(pending);
      model.add(pending);
    },
    take,
    takeAll: () => {
      take(Infinity);
    },
    putBack: () => {
      const all = handOver();
      queue.putBack(all);
      model.move(all, 'queued', true);
    },
    defer: () => {
      const all = handOver();
      queue.defer(all);
      model.move(all, 'deferred');
    },
    resume: () => {
      queue.resume();
      model.move(model.in('deferred'), 'queued', true);
    },
    close: (at: number) => {
      const pending = held[at];
      if (pending !== undefined) expect(queue.close(pending)).toBe(model.close(pending));
    },
    late: (now: number) => {
      const late = queue.takeLate(now);
      expect(new Set(late)).toEqual(new Set(model.late(now)));
      for (const each of late) model.close(each);
    },
    expectSame: () => {
      expect(queue.isEmpty).toBe(model.in('queued').length === 0);
    },
  };
}

const actions = fc.tuple(
  fc.constantFrom('add', 'add', 'add', 'add', 'take', 'take', 'takeAll', 'putBack', 'defer', 'resume', 'close', 'late'),
  fc.nat(20),
);

describe('the queue of reservations', () => {
  test(`keeps the order of arrival, and forgets what is answered (seed ${SEED})`, () => {
    fc.assert(
      fc.property(fc.array(actions, { maxLength: 40, size: 'max' }), (all) => {
        const both = createBoth();
        for (const [kind, number] of all) {
          both[kind](kind === 'take' || kind === 'close' ? number % 4 : number);
          both.expectSame();
        }
        both.resume();
        both.takeAll();
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  test('takes all where no number is given', () => {
    const queue = new ReservationQueue();
    const all = ['a', 'b', 'c'].map((uid) => pendingOf(uid));
    for (const each of all) queue.add(each);
    expect([queue.take(), queue.take()]).toEqual([all, []]);
  });
});
