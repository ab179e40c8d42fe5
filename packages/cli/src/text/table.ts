import type { Paint } from "./paint.ts";

/** A cell, and how it is coloured. */
export interface Cell {
  readonly text: string;
  readonly meaning?: Parameters<Paint>[0] | undefined;
}

/** Lines of a table with aligned columns. */
export function tableLines(head: readonly string[], cells: readonly (readonly Cell[])[], paint: Paint): string[] {
  // what a row of the database holds must not begin a line of its own
  const rows = cells.map((row) => row.map((cell) => ({ ...cell, text: cell.text.replace(/\s+/g, " ") })));
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]!.text.length)));
  const line = (cells: readonly Cell[]): string =>
    cells
      .map(({ text, meaning }, i) => {
        // the padding stands outside the colour, and not at the end of a line
        const padding = i === cells.length - 1 ? "" : " ".repeat(widths[i]! - text.length);
        return (meaning ? paint(meaning, text) : text) + padding;
      })
      .join("  ")
      .trimEnd();
  return [line(head.map((text) => ({ text, meaning: "quiet" }))), ...rows.map(line)];
}
