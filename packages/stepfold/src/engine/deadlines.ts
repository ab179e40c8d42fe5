import type { EpochMs } from "../core/json.ts";
import type { Environment } from "../ports/environment.ts";

interface Deadline {
  readonly at: EpochMs;
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
  #timer: { readonly at: EpochMs; readonly cancel: () => void } | null = null;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Calls `expire` once after `timeoutMs`, unless the returned function was called before. */
  add(timeoutMs: number, expire: () => void): () => void {
    const deadline = { at: this.#environment.now() + timeoutMs, expire };
    let queue = this.#queues.get(timeoutMs);
    if (!queue) {
      queue = new Set();
      this.#queues.set(timeoutMs, queue);
    }
    queue.add(deadline);
    if (!this.#timer || deadline.at < this.#timer.at) this.#arm(deadline.at);
    return () => queue.delete(deadline);
  }

  #arm(at: EpochMs): void {
    this.#timer?.cancel();
    const cancel = this.#environment.after(Math.max(0, at - this.#environment.now()), () => this.#fire(), { background: true });
    this.#timer = { at, cancel };
  }

  #fire(): void {
    this.#timer = null;
    const now = this.#environment.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [timeoutMs, queue] of this.#queues) {
      for (const deadline of queue) {
        if (deadline.at > now) {
          next = Math.min(next, deadline.at);
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
