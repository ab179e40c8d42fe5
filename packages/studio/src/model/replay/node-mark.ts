import type { EpochMs } from "stepfold/core";

/** What an attempt of a node has failed with. The message is empty if it may not be seen. */
export interface MarkError {
  readonly code?: string;
  readonly name: string;
  readonly message: string;
}

/** What the events of a run say about one node of its graph. */
export interface NodeMark {
  /** How often a path has left the node. */
  readonly visits: number;
  /** How often paths have left by each handle; the default handle is the empty text. */
  readonly handles: ReadonlyMap<string, number>;
  /** How the last visit has ended. Null: none has. */
  readonly outcome: "completed" | "failed" | "cancelled" | null;
  /** What the present visit does, as far as events alone tell it. Null: no visit is known to be open. */
  readonly open: "active" | "paused" | "retrying" | null;
  /** The number of the last attempt; 0 before the first one. */
  readonly attempt: number;
  /** How long the last visit took from its first attempt to its end. Null: none has ended. */
  readonly tookMs: number | null;
  /** When the first attempt of the present visit began. Null: none is open. */
  readonly begunAt: EpochMs | null;
  /** When the next attempt is made, if one is pending. */
  readonly retryAt: EpochMs | null;
  /** The error of the last attempt. Null: it did not fail. */
  readonly error: MarkError | null;
  /** The number of items of its last map. Null: it is not a map. */
  readonly items: number | null;
  /** The handles by which the last visit left. */
  readonly lastHandles: readonly string[];
  /** What became of its compensation. Null: it was not undone. */
  readonly undo: "undone" | "not undone" | null;
}

/** The mark of a node to which no path has come. */
export const freshMark: NodeMark = Object.freeze({
  visits: 0,
  handles: new Map<string, number>(),
  outcome: null,
  open: null,
  attempt: 0,
  tookMs: null,
  begunAt: null,
  retryAt: null,
  error: null,
  items: null,
  lastHandles: Object.freeze([]),
  undo: null,
});
