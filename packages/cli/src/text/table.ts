import { foldWords } from "./fold.ts";
import type { Paint } from "./paint.ts";

/** A cell, and how it is coloured. */
export interface Cell {
  readonly text: string;
  readonly meaning?: Parameters<Paint>[0] | undefined;
}

const gap = "  ";

/**
 * Lines of a table with aligned columns.
 *
 * @param maxColumns the width of the terminal: wide columns are folded between words to fit. Default: no limit
 */
export function tableLines(
  head: readonly string[],
  cells: readonly (readonly Cell[])[],
  paint: Paint,
  maxColumns: number = Number.POSITIVE_INFINITY,
): string[] {
  // a text from the database must not begin a new line of the table
  const rows = cells.map((row) => row.map((cell) => ({ ...cell, text: cell.text.replace(/\s+/g, " ") })));
  const widths = fittingWidths(head, rows, maxColumns);
  const line = (row: readonly Cell[]): string =>
    row
      .map(({ text, meaning }, i) => {
        // the padding is not coloured, and the last cell of a line has none
        const padding = i === row.length - 1 ? "" : " ".repeat(Math.max(0, widths[i]! - text.length));
        return (meaning && text !== "" ? paint(meaning, text) : text) + padding;
      })
      .join(gap)
      .trimEnd();
  const lines = (row: readonly Cell[]): string[] => {
    const folded = row.map(({ text }, i) => (text.length <= widths[i]! ? [text] : foldWords(text, widths[i]!)));
    const height = Math.max(...folded.map((parts) => parts.length));
    return Array.from({ length: height }, (_, at) => line(row.map((cell, i) => ({ ...cell, text: folded[i]![at] ?? "" }))));
  };
  return [line(head.map((text) => ({ text, meaning: "quiet" }))), ...rows.flatMap(lines)];
}

/** Returns the widths of the columns. The widest column that can be folded becomes narrower, until the table fits or none can be folded. */
function fittingWidths(head: readonly string[], rows: readonly (readonly Cell[])[], maxColumns: number): number[] {
  const longest = (title: string, texts: readonly string[]): number => Math.max(title.length, ...texts.map((text) => text.length));
  const columns = head.map((_, i) => rows.map((row) => row[i]!.text));
  const widths = columns.map((texts, i) => longest(head[i]!, texts));
  // a column is never narrower than its longest word
  const least = columns.map((texts, i) =>
    longest(
      head[i]!,
      texts.flatMap((text) => text.split(" ")),
    ),
  );
  const total = (): number => widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1));
  while (total() > maxColumns) {
    const widest = widths.reduce((found, width, i) => (width > least[i]! && width > (widths[found] ?? 0) ? i : found), -1);
    if (widest === -1) break;
    widths[widest]!--;
  }
  return widths;
}
