/** The rows of a long list that are rendered. */
export interface RowWindow {
  readonly first: number;
  /** After the last one. */
  readonly end: number;
}

/** So many rows above and below what is seen are rendered too. */
const overscan = 6;

/** Returns the rows of equal height that are seen, and a few around them. */
export function rowWindow(scrollTop: number, height: number, rowHeight: number, count: number): RowWindow {
  const first = Math.floor(scrollTop / rowHeight) - overscan;
  const end = Math.ceil((scrollTop + height) / rowHeight) + overscan;
  const last = Math.min(count, Math.max(0, end));
  return { first: Math.min(last, Math.max(0, first)), end: last };
}
