/** The share of a lease after which the database gives up. It is below a half, because a runtime waits half of the lease for an answer. */
const shareOfLease = 0.4;
/**
 * The smallest limit: with less, a short delay of a busy server would look like a locked row. Leases below 2.5 s get more than their share.
 */
const minLockMs = 1_000;
/**
 * The share of the limit after which a server ends a transaction whose process has stopped. It is below 1, so that the locks are free
 * before other writers, which wait for them, give up.
 */
const idleShare = 7 / 8;

/**
 * How long a database may wait for rows that other transactions have locked. The database must not make a write that its sender has given
 * up, so the limit is a share of the shortest lease that it was told of.
 */
export class LockLimit {
  #ms: number;

  /** @param maxMs the limit for long leases */
  constructor(maxMs: number) {
    this.#ms = maxMs;
  }

  /** The limit in milliseconds. */
  get ms(): number {
    return this.#ms;
  }

  /** The limit for a server that counts in whole seconds. */
  get seconds(): number {
    return Math.floor(this.#ms / 1000);
  }

  /** How long a server waits for the next statement of a transaction before it ends the transaction. */
  get transactionIdleMs(): number {
    return Math.ceil(this.#ms * idleShare);
  }

  /** Lowers the limit if the lease is shorter than all before. */
  learn(leaseMs: number): void {
    this.#ms = Math.min(this.#ms, Math.max(minLockMs, Math.floor(leaseMs * shareOfLease)));
  }
}

/** The limits by client. Stores with the same client share its connections, so they share the limit too. */
const lockLimits = new WeakMap<object, LockLimit>();

/** Returns the lock limit of a client, and makes one with `maxMs` first if there is none. */
export function lockLimitOf(client: object, maxMs: number): LockLimit {
  const known = lockLimits.get(client) ?? new LockLimit(maxMs);
  lockLimits.set(client, known);
  return known;
}

/** The placeholder for the lock limit in a statement, in the unit of the server. */
export const lockLimitMark = "/* lock limit */";

/** Puts the present limit into a statement. */
export function withLockLimit(text: string, limit: number): string {
  return text.replaceAll(lockLimitMark, String(limit));
}
