import type { Case, Sample } from "./measure.ts";

/** Names one figure of one case. */
export interface Figure {
  /** The name of the case. */
  readonly of: string;
  /** The name of the figure in the samples of that case. */
  readonly key: string;
}

/** The unit in which a figure is printed. */
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
  | "ms"
  | "elements"
  | "requests"
  | "reads/commit"
  | "events";

/** A limit that a figure has to meet. */
export interface Target {
  /** `figure`: the limit is for the figure itself. `ratio`: it is for the figure divided by its reference in the same round. */
  readonly of: "ratio" | "figure";
  readonly atLeast?: number;
  readonly atMost?: number;
  /**
   * Whether the run fails if the limit is missed, or the figure could not be measured: for counts, bytes and ratios, which hardly depend on
   * the machine and its load. Default false: the table says so, and that is all.
   */
  readonly isStrict?: true;
}

/** A line of the table. */
export interface Row {
  readonly work: string;
  readonly figure: Figure;
  readonly unit: Unit;
  readonly reference?: { readonly name: string; readonly figure: Figure };
  readonly target?: Target;
}

/** Rows of the table that belong together, and the cases that measure them. */
export interface Group {
  readonly cases: Readonly<Record<string, Case>>;
  readonly rows: readonly Row[];
  /** Returns lines of text that explain the figures. */
  readonly notes?: (samples: ReadonlyMap<string, readonly Sample[]>) => readonly string[];
}
