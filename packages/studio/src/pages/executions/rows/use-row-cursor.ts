import { type RefObject, useCallback, useEffect, useLayoutEffect, useState } from "react";
import { useKeys } from "../../../app/keys/use-keys.ts";
import type { ListKeeper } from "../list/list-keeper.ts";

/**
 * Moves the focus from row to row by `j` and `k`. The focus is on the link of the row (`data-row` is its index), so Enter opens it, and screen
 * readers read it. Row and height are kept for whoever comes back.
 *
 * @returns takes down which row has the focus, for example after a click
 */
export function useRowCursor(
  scroller: RefObject<HTMLDivElement | null>,
  lists: ListKeeper,
  count: number,
  rowPx: number,
): (index: number) => void {
  const [wanted, setWanted] = useState<number | null>(null);
  const move = (delta: number): void => {
    if (count === 0) return;
    const index = Math.max(0, Math.min(count - 1, lists.cursor + delta));
    scrollIntoView(scroller.current!, index, rowPx);
    setWanted(index);
  };
  // the row may have to be rendered first
  useEffect(() => {
    if (wanted === null) return;
    const link = scroller.current?.querySelector<HTMLElement>(`[data-row="${wanted}"]`);
    if (!link) return;
    link.focus({ preventScroll: true });
    lists.cursor = wanted;
    setWanted(null);
  });
  useKeys([
    { keys: "j", does: "Next row", act: () => move(1) },
    { keys: "k", does: "Row before", act: () => move(-1) },
  ]);
  useKeptScroll(scroller, lists);
  return useCallback(
    (index) => {
      lists.cursor = index;
    },
    [lists],
  );
}

/** The header covers one row at the top. */
function scrollIntoView(scroller: HTMLElement, index: number, rowPx: number): void {
  const [top, bottom] = [index * rowPx, (index + 2) * rowPx];
  if (top < scroller.scrollTop) scroller.scrollTop = top;
  else if (bottom > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = bottom - scroller.clientHeight;
}

function useKeptScroll(scroller: RefObject<HTMLDivElement | null>, lists: ListKeeper): void {
  useLayoutEffect(() => {
    const element = scroller.current!;
    element.scrollTop = lists.scrollTop;
    const keep = (): void => {
      lists.scrollTop = element.scrollTop;
    };
    element.addEventListener("scroll", keep, { passive: true });
    return () => element.removeEventListener("scroll", keep);
  }, [scroller, lists]);
}
