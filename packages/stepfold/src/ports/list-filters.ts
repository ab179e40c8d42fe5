import type { ListedWait } from "../core/transition/draft/listed-waits.ts";
import type { EpochMs } from "../core/values/json.ts";

/** Bounds of a value, at least one; all that are given must hold. */
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
 * What a member of metadata must be: equal to a value, or between bounds.
 *
 * Bounds are numbers or texts, not both. A number is compared with numbers only and a text with texts only: a value of another type is between
 * none. Texts are compared by their UTF-16 code units, on every store, as `<` of JavaScript does: so `"Z" < "a"` and `"10" < "9"`; times in ISO
 * 8601 with the same zone are in their order.
 */
export type MetadataFilter = string | number | boolean | null | MetadataBounds<number> | MetadataBounds<string>;

/** Which waits: all that is said must be true of one and the same wait. */
export interface WaitFilter {
  /** `external`: an answer, such as an approval. `signal`, `timer`, `child`: another execution. `incident`: a decision about a failure. */
  readonly kind?: ListedWait["kind"];
  /** The node that waits, without what is around it. */
  readonly nodeId?: string;
  /** Name of the signal. */
  readonly signal?: string;
  /** Key of the signal. */
  readonly key?: string;
  /** Named among those who may answer, and has not answered yet. A wait that anybody may answer names nobody. */
  readonly responder?: string;
  /**
   * Open since before this time; exclusive, as `openedAfter`. Of waits that differ in nothing but when they were opened lists know the first and
   * the last: with both bounds, one in between that neither of those is does not count.
   */
  readonly openedBefore?: EpochMs;
  readonly openedAfter?: EpochMs;
}
