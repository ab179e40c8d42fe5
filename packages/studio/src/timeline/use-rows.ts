import { type RefCallback, useCallback, useRef, useState } from "react";
import { type RowWindow, rowWindow } from "../model/row-window.ts";

/** A box that scrolls over rows of equal height, of which only those in sight are rendered. */
export interface Rows extends RowWindow {
  /** For the box that scrolls. */
  readonly ref: RefCallback<HTMLElement>;
  readonly width: number;
  /** The width of the scroll bar. */
  readonly gutter: number;
  /** The box has been measured: rows can be brought into sight. */
  readonly isMeasured: boolean;
  /** Scrolls so that a row is in the middle, if it is out of sight. */
  readonly reveal: (index: number) => void;
}

/** Returns which rows of a list are rendered. */
export function useRows(count: number, rowHeight: number): Rows {
  const [seen, setSeen] = useState({ top: 0, height: 0, width: 0, gutter: 0 });
  const box = useRef<HTMLElement | null>(null);
  const ref = useCallback((element: HTMLElement | null) => {
    box.current = element;
    if (!element) return;
    const look = (): void => {
      const { scrollTop: top, clientHeight: height, clientWidth: width } = element;
      const gutter = element.offsetWidth - width;
      setSeen((old) => (old.top === top && old.height === height && old.width === width ? old : { top, height, width, gutter }));
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  const reveal = useCallback(
    (index: number): void => {
      const element = box.current;
      if (!element) return;
      const { scrollTop, clientHeight } = element;
      const top = index * rowHeight;
      if (top < scrollTop || top + rowHeight > scrollTop + clientHeight) element.scrollTop = top - (clientHeight - rowHeight) / 2;
    },
    [rowHeight],
  );
  return {
    ...rowWindow(seen.top, seen.height, rowHeight, count),
    ref,
    width: seen.width,
    gutter: seen.gutter,
    isMeasured: seen.height > 0,
    reveal,
  };
}
