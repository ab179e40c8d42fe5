/** How fast executions with the same key may begin. */
export interface Rate {
  readonly key: string;
  /** How many of them begin in any span of `periodMs`, at most. */
  readonly limit: number;
  readonly periodMs: number;
}
