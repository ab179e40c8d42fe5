import type { ListedWait } from "../core/transition/draft/listed-waits.ts";
import type { EpochMs } from "../core/values/json.ts";

/** Bounds of a value. At least one is given, and all given bounds must hold. */
export interface MetadataBounds<T extends number | string> {
  /** Greater than. */
  readonly gt?: T;
  /** Greater than or equal. */
  readonly gte?: T;
  /** Less than. */
  readonly lt?: T;
  /** Less than or equal. */
  readonly lte?: T;
}

/**
 * A condition on one member of metadata: equal to a value, or between bounds.
 *
 * The bounds are all numbers or all texts. A number is compared with numbers only and a text with texts only: a value of another type
 * never matches. Every store compares texts by their UTF-16 code units, as `<` of JavaScript does: `"Z" < "a"` and `"10" < "9"`. Times in
 * ISO 8601 with the same time zone are compared correctly.
 */
export type MetadataFilter = string | number | boolean | null | MetadataBounds<number> | MetadataBounds<string>;

/** Selects waits: one and the same wait must meet all given conditions. */
export interface WaitFilter {
  /**
   * What is waited for. `external`: an answer, such as an approval. `signal`: a signal. `timer`: a time. `child`: another execution.
   * `incident`: a decision about a failure.
   */
  readonly kind?: ListedWait["kind"] | undefined;
  /** The id of the node that waits, without the nodes around it (the map or sub-workflow that it belongs to). */
  readonly nodeId?: string | undefined;
  /** The name of the signal that the wait takes. */
  readonly signal?: string | undefined;
  /** The key of the signal: a wait with a key takes only a signal with the same key. */
  readonly key?: string | undefined;
  /** A person who may answer by name and has not answered yet. A wait that anybody may answer has no names, so it is not found. */
  readonly responder?: string | undefined;
  /**
   * Opened before this time, exclusive; `openedAfter` is exclusive too. If several waits differ only in the time when they were opened,
   * lists keep only the first and the last of them: with both bounds given, a wait between those two is not found.
   */
  readonly openedBefore?: EpochMs | undefined;
  readonly openedAfter?: EpochMs | undefined;
}
