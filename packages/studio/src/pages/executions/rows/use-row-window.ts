import { type RefObject, useLayoutEffect, useRef, useState } from "react";
import { type RowWindow, rowWindow } from "../../../model/row-window.ts";

/** Follows an element that scrolls, and returns the rows of a list in it that must be rendered. */
export function useRowWindow(count: number, rowHeight: number): RowWindow & { readonly scroller: RefObject<HTMLDivElement | null> } {
  const scroller = useRef<HTMLDivElement>(null);
  const [[top, height], setView] = useState<readonly [top: number, height: number]>([0, 0]);
  useLayoutEffect(() => {
    const element = scroller.current!;
    const read = (): void => setView([element.scrollTop, element.clientHeight]);
    const observer = new ResizeObserver(read);
    observer.observe(element);
    element.addEventListener("scroll", read, { passive: true });
    read();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", read);
    };
  }, []);
  return { scroller, ...rowWindow(top, height, rowHeight, count) };
}
