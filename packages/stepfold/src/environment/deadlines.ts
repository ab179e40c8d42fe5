import type { Environment } from "../ports/environment.ts";

interface Deadline {
  /** Monotonic: a clock that is set must not expire every step at once. */
  readonly atMs: number;
  readonly expire: () => void;
}

/**
 * Many timeouts on one timer. Steps with the same timeout expire in the order they began, so each duration has a
 * queue of its own. Most steps end long before: then a deadline is an insertion and a removal, and the timer stays
 * as it is until it fires.
 */
export class Deadlines {
  readonly #environment: Environment;
  readonly #queues = new Map<number, Set<Deadline>>();
  #timer: { readonly atMs: number; readonly cancel: () => void } | null = null;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Calls `expire` once after `timeoutMs`, unless the returned function was called before. */
  add(timeoutMs: number, expire: () => void): () => void {
    const deadline = { atMs: this.#environment.monotonicMs() + timeoutMs, expire };
    let queue = this.#queues.get(timeoutMs);
    if (!queue) {
      queue = new Set();
      this.#queues.set(timeoutMs, queue);
    }
    queue.add(deadline);
    if (!this.#timer || deadline.atMs < this.#timer.atMs) this.#arm(deadline.atMs);
    return () => queue.delete(deadline);
  }

  #arm(atMs: number): void {
    this.#timer?.cancel();
    const cancel = this.#environment.after(Math.max(0, atMs - this.#environment.monotonicMs()), () => this.#fire(), { background: true });
    this.#timer = { atMs, cancel };
  }

  #fire(): void {
    this.#timer = null;
    const now = this.#environment.monotonicMs();
    let next = Number.POSITIVE_INFINITY;
    for (const [timeoutMs, queue] of this.#queues) {
      for (const deadline of queue) {
        if (deadline.atMs > now) {
          next = Math.min(next, deadline.atMs);
          break;
        }
        queue.delete(deadline);
        deadline.expire();
      }
      if (queue.size === 0) this.#queues.delete(timeoutMs);
    }
    if (next < Number.POSITIVE_INFINITY) this.#arm(next);
  }
}
