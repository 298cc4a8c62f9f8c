/**
 * Work that is done piece by piece: it yields after each piece, so that the caller can do something else in between,
 * and returns the result. A piece should take less than a millisecond, and at most some milliseconds of the largest input.
 */
export type Steps<T> = Generator<undefined, T>;

/** Does all pieces one after the other. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
