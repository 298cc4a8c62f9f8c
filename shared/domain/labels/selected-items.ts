import type { Selector } from './label-selector.ts';
import type { Steps } from '#shared/domain/model/steps.ts';

/** Which of a list of items were selected: one bit each, by index. */
export type SelectedItems = Uint32Array;

const BITS = 32;
const ITEMS_PER_STEP = 200;

/** Asks a selector about the labels of every item, once. */
export function* selectItems(selector: Selector, labels: readonly ReadonlyMap<string, string>[]): Steps<SelectedItems> {
  const selected = new Uint32Array(Math.ceil(labels.length / BITS));
  for (const [index, each] of labels.entries()) {
    if (selector.matches(each)) mark(selected, index);
    if (index % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  return selected;
}

function mark(selected: Uint32Array, index: number): void {
  const word = Math.floor(index / BITS);
  selected[word] = (selected[word] ?? 0) | (1 << (index % BITS));
}

/** Whether any item was selected. */
export function selectsAny(selected: SelectedItems): boolean {
  return selected.some((bits) => bits !== 0);
}

/** Whether any item of one list was selected by both. */
export function selectAlike(a: SelectedItems, b: SelectedItems): boolean {
  return a.some((bits, index) => (bits & (b[index] ?? 0)) !== 0);
}
