import type { Paint } from "../text/paint.ts";

/** The style of printed lines. */
export interface LineStyle {
  readonly paint: Paint;
  /** The width of the column of addresses, in characters. */
  readonly nodeWidth: number;
}

/** Makes a line such as `✔ charge  attempt 3  12 ms`: a sign, an address, and all parts that are not empty. */
export function stepLine(
  sign: string,
  meaning: "good" | "bad" | "wait" | "quiet",
  place: string,
  parts: readonly (string | null)[],
  { paint, nodeWidth }: LineStyle,
): string {
  const told = parts.filter((part) => part !== null && part !== "").join("  ");
  return `${paint(meaning, sign)} ${told ? `${place.padEnd(nodeWidth)}  ${told}` : place}`;
}

/** Returns the handle by which a path leaves as `→ timeout`; empty if there is none. */
export function handleText(handle: string | undefined): string {
  return handle === undefined || handle === "" ? "" : `→ ${handle}`;
}
