/**
 * An answer, a signal, a change of metadata or a restart that its caller gave with an idempotency key. If the caller sends it again, it changes
 * nothing.
 */
export interface AnsweredKey {
  readonly command: "resume" | "signal" | "setMetadata" | "restart";
  /** The idempotency key that the caller gave. */
  readonly key: string;
  /** Version of the event that the command made. */
  readonly version: number;
}

/** An execution remembers this number of keys, the latest ones; otherwise its snapshot would grow with every command. */
export const maxAnsweredKeys = 1_000;
