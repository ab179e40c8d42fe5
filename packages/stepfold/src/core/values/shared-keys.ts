/** A place under a concurrency limit. An execution with a concurrency key needs one while it is driven. */
export interface Permit {
  readonly key: string;
  /** The most executions with this key that are driven at the same time. */
  readonly limit: number;
}

/** How fast executions with the same key may begin. */
export interface Rate {
  readonly key: string;
  /** The most executions with this key that begin in any span of `periodMs`. */
  readonly limit: number;
  readonly periodMs: number;
}
