/** What an execution needs to be driven: one of the places that executions with the same key share. */
export interface Permit {
  readonly key: string;
  /** How many executions with this key are driven at the same time, at most. */
  readonly limit: number;
}

/** How fast executions with the same key may begin. */
export interface Rate {
  readonly key: string;
  /** How many of them begin in any span of `periodMs`, at most. */
  readonly limit: number;
  readonly periodMs: number;
}
