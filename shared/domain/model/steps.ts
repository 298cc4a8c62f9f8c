/**
 * Work that is done piece by piece: it yields after each piece, so that the caller can do something else in between,
 * and returns the result. A piece should take well below a millisecond.
 */
export type Steps<T> = Generator<undefined, T>;
