import { type FocusEvent, type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { positionBeside } from "./position.ts";
import styles from "./tooltip-host.module.css";

/** How long the pointer rests on something before its tooltip appears, and how long the tooltip stays when the pointer leaves. */
const [showAfterMs, hideAfterMs] = [350, 120];

/**
 * Shows the tooltips of everything inside it: of elements with `data-tip="text"`. With `data-tip-cut` as well, only if the text of the element
 * is cut. What lies over others, such as the link of a whole row, has `data-tip-through`: then what lies below it counts. A tooltip never has
 * the only copy of a fact: it is a picture for people who see, and hidden from screen readers. The pointer may go onto it, and Escape hides it.
 */
export function TooltipHost({ children, className }: { readonly children: ReactNode; readonly className?: string | undefined }): ReactNode {
  const [anchor, setAnchor] = useState<Element | null>(null);
  /** What is shown after the delay. */
  const wanted = useRef<Element | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const want = (next: Element | null, delayMs: number): void => {
    if (next === wanted.current) return;
    clearTimeout(timer.current);
    wanted.current = next;
    if (next !== anchor) timer.current = setTimeout(() => setAnchor(next), delayMs);
  };
  const hide = (): void => want(null, hideAfterMs);
  const move = (event: PointerEvent<HTMLElement>): void => {
    // the pointer may rest on the tooltip itself
    const next = (event.target as Element).closest(`.${styles.tip}`) ? anchor : anchorUnder(event);
    want(next, next && !anchor ? showAfterMs : hideAfterMs);
  };
  const focus = ({ target }: FocusEvent<HTMLElement>): void => {
    // the focus of a click shows nothing: the pointer has shown it already
    if (target.matches(":focus-visible")) want(neededAnchor(target.closest("[data-tip]")), showAfterMs);
  };
  const press = (event: KeyboardEvent<HTMLElement>): void => {
    if (event.key === "Escape") want(null, 0);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only watches what its content does
    <div
      className={className}
      onPointerMove={move}
      onPointerLeave={hide}
      onPointerDown={hide}
      onFocus={focus}
      onBlur={hide}
      onKeyDown={press}
    >
      {children}
      {anchor && <Tip key={anchor.getAttribute("data-tip")} anchor={anchor} />}
    </div>
  );
}

function Tip({ anchor }: { readonly anchor: Element }): ReactNode {
  const show = (element: HTMLDivElement | null): void => {
    // what it belongs to may have gone while the pointer rested on it
    if (!element || !anchor.isConnected) return;
    element.showPopover();
    positionBeside(element, anchor, "center");
  };
  return (
    <div ref={show} popover="manual" aria-hidden="true" className={styles.tip}>
      {anchor.getAttribute("data-tip")}
    </div>
  );
}

function anchorUnder({ target, clientX, clientY }: PointerEvent<HTMLElement>): Element | null {
  const top = target as Element;
  if (!top.closest("[data-tip-through]")) return neededAnchor(top.closest("[data-tip]"));
  const below = (top.getRootNode() as Document | ShadowRoot).elementsFromPoint(clientX, clientY);
  return neededAnchor(below.find((element) => element.hasAttribute("data-tip")) ?? null);
}

/** Returns an element if it has a tooltip to show now. */
function neededAnchor(anchor: Element | null): Element | null {
  if (!anchor?.getAttribute("data-tip")) return null;
  // a line is higher than that; letters may reach a little out of their line
  const isCut = anchor.scrollWidth > anchor.clientWidth || anchor.scrollHeight > anchor.clientHeight + 8;
  return anchor.hasAttribute("data-tip-cut") && !isCut ? null : anchor;
}
