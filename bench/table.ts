import type { Figure, Row, Target, Unit } from "./group.ts";
import { type Sample, type Spread, spread } from "./measure.ts";

/** A row of the table with its measured figures. */
export interface Line {
  readonly work: string;
  readonly unit: Unit;
  /** The spread over all rounds. Null if nothing was measured. */
  readonly figure: Spread | null;
  /** The spread of the reference. Null if the row has none, or it was not measured. */
  readonly reference: (Spread & { readonly name: string }) | null;
  /** The ratio of the figure to the reference of the same round. Null without a measured reference. */
  readonly ratio: Spread | null;
  readonly target: Target | null;
  /** Whether the target is reached. Null if there is no target, or nothing was measured. */
  readonly reached: boolean | null;
}

/** The samples of the cases of a group, in the order of the rounds. */
export type Samples = ReadonlyMap<string, readonly Sample[]>;

/** Makes lines of the table from rows and samples. */
export function linesOf(rows: readonly Row[], samples: Samples): readonly Line[] {
  return rows.map(({ work, unit, figure, reference, target = null }) => {
    const own = figuresOf(figure, samples);
    const others = reference ? figuresOf(reference.figure, samples) : [];
    const ratios = own.flatMap((value, round) => (others[round] ? [value / others[round]] : []));
    const line = { figure: spreadOf(own), ratio: spreadOf(ratios) };
    const other = spreadOf(others);
    const judged = target && line[target.of];
    return {
      ...{ work, unit, ...line, target },
      reference: reference && other ? { ...other, name: reference.name } : null,
      reached: judged && judged.median >= (target.atLeast ?? 0) && judged.median <= (target.atMost ?? Number.POSITIVE_INFINITY),
    };
  });
}

/** The lines for which the run fails: a limit that counts on every machine is missed, or its figure could not be measured. */
export function failedLines(lines: readonly Line[]): readonly Line[] {
  return lines.filter(({ target, reached }) => target?.isStrict && !reached);
}

function figuresOf({ of, key }: Figure, samples: Samples): number[] {
  return (samples.get(of) ?? []).map((sample) => sample[key] ?? Number.NaN).filter(Number.isFinite);
}

function spreadOf(figures: readonly number[]): Spread | null {
  return figures.length > 0 ? spread(figures) : null;
}

const titles = ["work", "measured", "reference", "ratio (least to most)", "target", ""];

/** The table as text. */
export function tableOf(lines: readonly Line[]): string {
  const cells = lines.map(({ work, unit, figure, reference, ratio, target, reached, ...rest }) => [
    work,
    figure ? `${text(figure.median)} ${unit}` : "not measured",
    reference ? `${text(reference.median)}  ${reference.name}` : "",
    ratio ? `${text(ratio.median)} (${text(ratio.least)} to ${text(ratio.most)})` : "",
    target ? targetText(target, unit) : "",
    reached === null ? "" : verdict({ figure, ratio, target, reached, ...rest }),
  ]);
  const widths = titles.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]!.length)));
  const write = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd();
  return [write(titles), write(widths.map((width) => "-".repeat(width))), ...cells.map(write)].join("\n");
}

function targetText({ of, atLeast, atMost }: Target, unit: Unit): string {
  const bound = atLeast === undefined ? `<= ${text(atMost!)}` : `>= ${text(atLeast)}`;
  return of === "ratio" ? `ratio ${bound}` : `${bound} ${unit}`;
}

function verdict({ figure, ratio, target, reached }: Pick<Line, "figure" | "ratio" | "target" | "reached">): string {
  if (reached || !target) return "ok";
  if ((target.atLeast ?? target.atMost) === 0) return "MISSED";
  const { median } = (target.of === "ratio" ? ratio : figure)!;
  const off = Math.abs(1 - median / (target.atLeast ?? target.atMost!)) * 100;
  return `MISSED by ${off.toFixed(off < 10 ? 1 : 0)} %`;
}

/** Formats a figure with three significant digits; a figure of 1,000 or more is a whole number, and one below 0.1 has two digits. */
function text(value: number): string {
  if (value === 0) return "0";
  if (value >= 1000) return Math.round(Number(value.toPrecision(3))).toLocaleString("en");
  if (value < 0.1) return value.toPrecision(2);
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
