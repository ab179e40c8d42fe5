import type { Case, Sample } from "./measure.ts";

/** A figure of a case. */
export interface Figure {
  readonly of: string;
  readonly key: string;
}

/** How a figure is written. */
export type Unit =
  | "steps/s"
  | "queries/s"
  | "evaluations/s"
  | "ns/step"
  | "µs/step"
  | "µs/event"
  | "bytes/item"
  | "µs/item"
  | "MB"
  | "KB"
  | "ms";

/** What has to be reached. */
export interface Target {
  /** The figure itself, or its ratio to that of the reference in the same round. */
  readonly of: "ratio" | "figure";
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** A line of the table. */
export interface Row {
  readonly work: string;
  readonly figure: Figure;
  readonly unit: Unit;
  readonly reference?: { readonly name: string; readonly figure: Figure };
  readonly target?: Target;
}

/** Rows that belong together, and the cases behind them. */
export interface Group {
  readonly cases: Readonly<Record<string, Case>>;
  readonly rows: readonly Row[];
  /** What explains the figures. */
  readonly notes?: (samples: ReadonlyMap<string, readonly Sample[]>) => readonly string[];
}
