/** An answer, a signal or a change of metadata that was given under a key of its caller: the same may be given again, and changes nothing then. */
export interface AnsweredKey {
  readonly command: "resume" | "signal" | "setMetadata";
  /** The caller's key. */
  readonly key: string;
  /** Version of the event. */
  readonly version: number;
}

/** How many keys an execution remembers: the latest. */
export const maxAnsweredKeys = 1_000;
