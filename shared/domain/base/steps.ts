/**
 * Work that is done piece by piece: it yields after each piece, so that the caller can do something else in between,
 * and returns the result. A piece should take less than a millisecond, and at most some milliseconds of the largest input.
 */
export type Steps<T> = Generator<undefined, T>;

/** Runs all pieces to the end. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

const PER_STEP = 1_000;

/** The results for the items, in their order, without those for which `find` returns `undefined`. */
export function* collectInSteps<T, R>(
  items: Iterable<T>,
  find: (item: T) => R | undefined,
  perStep = PER_STEP,
): Steps<readonly R[]> {
  const found: R[] = [];
  let looked = 0;
  for (const item of items) {
    const result = find(item);
    if (result !== undefined) found.push(result);
    looked += 1;
    if (looked % perStep === 0) yield;
  }
  return found;
}

/**
 * A sorted copy, stable like `toSorted`, for lists too long to sort in one go; parts that are already in order cost
 * little.
 */
export function* sortInSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): Steps<readonly T[]> {
  let runs: (readonly T[])[] = [];
  for (let start = 0; start < items.length; start += PER_STEP) {
    runs.push(items.slice(start, start + PER_STEP).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: (readonly T[])[] = [];
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(yield* merge(runs[index] ?? [], runs[index + 1] ?? [], compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<T>(a: readonly T[], b: readonly T[], compare: (a: T, b: T) => number): Steps<readonly T[]> {
  if (b.length === 0 || compare(a.at(-1) as T, b[0] as T) <= 0) return a.concat(b);
  const merged: T[] = [];
  let [left, right] = [0, 0];
  while (left < a.length && right < b.length) {
    const isLeft = compare(a[left] as T, b[right] as T) <= 0;
    merged.push((isLeft ? a[left++] : b[right++]) as T);
    if (merged.length % (2 * PER_STEP) === 0) yield;
  }
  for (; left < a.length; left += 1) merged.push(a[left] as T);
  for (; right < b.length; right += 1) merged.push(b[right] as T);
  return merged;
}

/** Items of which few change between uses: the others keep their order and need not be sorted again. */
export class KeptOrder<T> {
  readonly #compare: (a: T, b: T) => number;
  #items: readonly T[] = [];
  #added = new Set<T>();
  #removed = new Set<T>();

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  /** Adds an item that it does not have. */
  add(item: T): void {
    this.#added.add(item);
  }

  /** Removes an item that it has. */
  remove(item: T): void {
    if (!this.#added.delete(item)) this.#removed.add(item);
  }

  /** All items as they are at the start; later changes appear the next time. */
  *inOrder(): Steps<readonly T[]> {
    const removed = this.#removed;
    const items = [...this.#items.filter((item) => !removed.has(item)), ...this.#added];
    this.#items = items;
    this.#added = new Set();
    this.#removed = new Set();
    const sorted = yield* sortInSteps(items, this.#compare);
    if (this.#items === items) this.#items = sorted;
    return sorted;
  }
}
