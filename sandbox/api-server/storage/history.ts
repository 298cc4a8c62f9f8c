import type { Change } from './change.ts';

/** The last changes of one collection, bounded in number: what a watch can resume from. */
export class History {
  readonly #limit: number;
  /** The oldest resourceVersion a watch may resume from: changes after it are all here. */
  #floor: number;
  #changes: Change[] = [];
  #start = 0;

  constructor(limit: number, floor: number) {
    this.#limit = limit;
    this.#floor = floor;
  }

  get floor(): number {
    return this.#floor;
  }

  push(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length - this.#start <= this.#limit) return;
    this.#floor = this.#changes[this.#start]?.number ?? this.#floor;
    this.#start += 1;
    if (this.#start > this.#limit) this.#compact();
  }

  /** The changes after `number`, oldest first; only right for `number >= floor`. */
  since(number: number): readonly Change[] {
    let low = this.#start;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle]?.number ?? 0) > number) high = middle;
      else low = middle + 1;
    }
    return this.#changes.slice(low);
  }

  /** Forgets everything up to now, as a compaction does. */
  clear(floor: number): void {
    this.#changes = [];
    this.#start = 0;
    this.#floor = floor;
  }

  #compact(): void {
    this.#changes = this.#changes.slice(this.#start);
    this.#start = 0;
  }
}
