/** A long list of which the document contains only the visible rows. */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';

/** Used until the height of the list is known. */
const FIRST_HEIGHT = 800;
const BESIDE_SIGHT = 6;

export interface VirtualRows {
  readonly scrollIn: (element: Element | undefined) => void;
  readonly measure: (element: Element | undefined) => void;
  /** The visible rows among these keys, and the height in pixels of the rows before and after them. */
  readonly visible: (keys: readonly string[]) => {
    readonly indexes: readonly number[];
    readonly before: number;
    readonly after: number;
  };
  readonly drawn: () => void;
  readonly stop: () => void;
}

/**
 * `redraw` is called when other rows become visible; `rowHeight` is the height in pixels of a row that was not measured
 * yet.
 */
export function virtualRows(redraw: () => void, rowHeight: number): VirtualRows {
  let scroller: HTMLElement | null = null;
  let keys: readonly string[] = [];
  const options = (): VirtualizerOptions<HTMLElement, HTMLElement> => ({
    count: keys.length,
    getItemKey: (index) => keys[index] ?? index,
    getScrollElement: () => scroller,
    estimateSize: () => rowHeight,
    initialRect: { width: 1, height: FIRST_HEIGHT },
    overscan: BESIDE_SIGHT,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: redraw,
  });
  const virtualizer = new Virtualizer<HTMLElement, HTMLElement>(options());
  const stop = virtualizer._didMount();
  return {
    scrollIn: (element) => (scroller = (element as HTMLElement | undefined) ?? null),
    measure: (element) => element !== undefined && virtualizer.measureElement(element as HTMLElement),
    visible(wanted) {
      keys = wanted;
      virtualizer.setOptions(options());
      const items = virtualizer.getVirtualItems();
      const [first, last] = [items[0], items.at(-1)];
      const after = last === undefined ? 0 : virtualizer.getTotalSize() - last.end;
      return { indexes: items.map(({ index }) => index), before: first?.start ?? 0, after };
    },
    drawn: () => virtualizer._willUpdate(),
    stop,
  };
}
