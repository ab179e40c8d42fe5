import type { Paint } from "../text/paint.ts";

/** How lines look. */
export interface LineStyle {
  readonly paint: Paint;
  /** Width of the column of places. */
  readonly nodeWidth: number;
}

/** `✔ charge  attempt 3  12 ms`: sign, place, and whatever there is to say. */
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

/** The handle by which a path leaves. */
export function handleText(handle: string | undefined): string {
  return handle === undefined || handle === "" ? "" : `→ ${handle}`;
}
