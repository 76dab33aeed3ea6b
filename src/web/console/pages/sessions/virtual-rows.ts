/** Draws only the visible rows, however many there are. */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualItem,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useReducer, useRef } from 'preact/hooks';

export interface VirtualRows {
  readonly items: readonly VirtualItem[];
  /** The height of the rows above and below that are not drawn, in pixels. */
  readonly before: number;
  readonly after: number;
  readonly scrollTo: (index: number) => void;
}

const OVERSCAN = 12;
/** Used until a row is drawn. All rows are as high as the first, whose height depends on the width of the list. */
const ROW_HEIGHT = 32;

export function useVirtualRows(scroller: RefObject<HTMLElement | null>, count: number): VirtualRows {
  const [, draw] = useReducer((drawn: number) => drawn + 1, 0);
  const made = useRef<Virtualizer<HTMLElement, HTMLElement> | null>(null);
  const rowHeight = useRef(ROW_HEIGHT);
  const isPrinted = useRef(false);
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight.current,
    overscan: isPrinted.current ? count : OVERSCAN,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => draw(undefined),
  };
  made.current ??= new Virtualizer<HTMLElement, HTMLElement>(options);
  const virtualizer = made.current;
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  const measureRow = (): void => {
    const height = scroller.current?.querySelector('[data-row]')?.getBoundingClientRect().height ?? 0;
    if (height === 0 || height === rowHeight.current) return;
    rowHeight.current = height;
    virtualizer.measure();
  };
  useLayoutEffect(measureRow);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(measureRow);
    if (scroller.current !== null) observer.observe(scroller.current);
    return () => observer.disconnect();
  }, []);
  // All rows are drawn for printing, because paper does not scroll.
  useLayoutEffect(() => {
    const media = matchMedia('print');
    const note = (): void => {
      isPrinted.current = media.matches;
      draw(undefined);
    };
    media.addEventListener('change', note);
    return () => media.removeEventListener('change', note);
  }, []);

  const items = virtualizer.getVirtualItems();
  return {
    items,
    before: items[0]?.start ?? 0,
    after: virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0),
    scrollTo: (index) => virtualizer.scrollToIndex(index, { align: 'auto' }),
  };
}
