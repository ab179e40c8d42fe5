const gapPx = 4;
const marginPx = 8;

/** The part of a rectangle that is needed to stand beside it, in pixels of the window. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/**
 * Returns where something floats that belongs to a box: below it, or above if there is more room; never outside the window.
 *
 * @param align which edges are in line
 */
export function floatingPosition(
  box: Box,
  size: { readonly width: number; readonly height: number },
  windowSize: { readonly width: number; readonly height: number },
  align: "start" | "end" | "center",
): { readonly left: number; readonly top: number } {
  const wanted = align === "start" ? box.left : align === "end" ? box.right - size.width : (box.left + box.right - size.width) / 2;
  const left = Math.max(marginPx, Math.min(wanted, windowSize.width - size.width - marginPx));
  const below = box.bottom + gapPx;
  const fitsBelow = below + size.height + marginPx <= windowSize.height;
  const isMoreAbove = box.top > windowSize.height - box.bottom;
  const top = fitsBelow || !isMoreAbove ? below : Math.max(marginPx, box.top - gapPx - size.height);
  return { left, top };
}

/** Moves a floating element beside another one. Its size is what it has now. */
export function positionBeside(floating: HTMLElement, anchor: Element, align: "start" | "end" | "center"): void {
  const { width, height } = floating.getBoundingClientRect();
  const windowSize = { width: window.innerWidth, height: window.innerHeight };
  const { left, top } = floatingPosition(anchor.getBoundingClientRect(), { width, height }, windowSize, align);
  floating.style.left = `${left}px`;
  floating.style.top = `${top}px`;
}
