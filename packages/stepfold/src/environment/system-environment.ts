import type { Environment } from "../ports/environment.ts";

/** What a platform's timer can hold; more would fire at once. */
const maxTimerMs = 2 ** 31 - 1;

/** The real clock, timers and random ids of this process. */
export const systemEnvironment: Environment = Object.freeze({
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  newId: uuid7,
  after(delayMs: number, callback: () => void, { background = false }: { readonly background?: boolean } = {}): () => void {
    const dueAt = Date.now() + delayMs;
    let timer: ReturnType<typeof setTimeout>;
    const arm = (): void => {
      const leftMs = dueAt - Date.now();
      timer = leftMs > maxTimerMs ? setTimeout(arm, maxTimerMs) : setTimeout(callback, Math.max(0, leftMs));
      // browsers give a number; there nothing is kept alive
      if (background && typeof timer === "object") timer.unref();
    };
    arm();
    return () => clearTimeout(timer);
  },
});

const hex: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Random bytes are cheap by the page, and dear one by one. */
const page = new Uint8Array(4_090);
let used = page.length;
/** The beginning of all ids of one millisecond. */
let time = { atMs: -1, text: "" };

/** UUID version 7 (RFC 9562): in order of time, so that neighbours in time are neighbours in an index. */
function uuid7(): string {
  const now = Date.now();
  if (now !== time.atMs) {
    const digits = (now + 2 ** 48).toString(16);
    time = { atMs: now, text: `${digits.slice(1, 9)}-${digits.slice(9)}-` };
  }
  if (used === page.length) {
    crypto.getRandomValues(page);
    used = 0;
  }
  const at = used;
  used += 10;
  const next = (index: number): string => hex[page[at + index]!]!;
  const version = hex[0x70 | (page[at]! & 0x0f)]!;
  const variant = hex[0x80 | (page[at + 2]! & 0x3f)]!;
  return `${time.text}${version}${next(1)}-${variant}${next(3)}-${next(4)}${next(5)}${next(6)}${next(7)}${next(8)}${next(9)}`;
}

/** A time by which something has to be done. Those of one queue lie in a ring: to add or to remove one is to set four fields. */
export class Deadline {
  /** Monotonic: a clock that is set must not expire every step at once. */
  readonly atMs: number;
  readonly expire: () => void;
  #before: Deadline = this;
  #after: Deadline = this;

  constructor(atMs: number, expire: () => void) {
    this.atMs = atMs;
    this.expire = expire;
  }

  /** The one after it; of the end of a queue the first. */
  get next(): Deadline {
    return this.#after;
  }

  /** Becomes the last of a queue. @param end what stands for the queue, and is no deadline itself */
  append(end: Deadline): void {
    this.#before = end.#before;
    this.#after = end;
    this.#before.#after = this;
    end.#before = this;
  }

  /** It does not expire any more. Safe to call twice. */
  cancel(): void {
    this.#before.#after = this.#after;
    this.#after.#before = this.#before;
    this.#before = this;
    this.#after = this;
  }
}

/**
 * Many timeouts on one timer. Steps with the same timeout expire in the order they began, so each duration has a
 * queue of its own. Most steps end long before: then a deadline is an insertion and a removal, and the timer stays
 * as it is until it fires.
 */
export class Deadlines {
  readonly #environment: Environment;
  /** The end of each queue. */
  readonly #queues = new Map<number, Deadline>();
  #timer: { readonly atMs: number; readonly cancel: () => void } | null = null;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Calls `expire` once after `timeoutMs`, unless the deadline was cancelled before. */
  add(timeoutMs: number, expire: () => void): Deadline {
    const deadline = new Deadline(this.#environment.monotonicMs() + timeoutMs, expire);
    let end = this.#queues.get(timeoutMs);
    if (!end) {
      end = new Deadline(Number.POSITIVE_INFINITY, () => undefined);
      this.#queues.set(timeoutMs, end);
    }
    deadline.append(end);
    if (!this.#timer || deadline.atMs < this.#timer.atMs) this.#arm(deadline.atMs);
    return deadline;
  }

  #arm(atMs: number): void {
    this.#timer?.cancel();
    const cancel = this.#environment.after(Math.max(0, atMs - this.#environment.monotonicMs()), () => this.#fire(), { background: true });
    this.#timer = { atMs, cancel };
  }

  #fire(): void {
    this.#timer = null;
    const now = this.#environment.monotonicMs();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [timeoutMs, end] of this.#queues) {
      while (end.next.atMs <= now) {
        const { next } = end;
        next.cancel();
        next.expire();
      }
      if (end.next === end) this.#queues.delete(timeoutMs);
      nextMs = Math.min(nextMs, end.next.atMs);
    }
    if (nextMs < Number.POSITIVE_INFINITY) this.#arm(nextMs);
  }
}

/** Calls back after everything else that is ready in this process had its chance: timers, the network, other executions. */
export function onNextMacrotask(callback: () => void): void {
  soon(callback);
}

// browsers have no `setImmediate`
const { setImmediate: soon = setTimeout } = globalThis;

let seen = 0;
let isWatched = false;

/** As `onNextMacrotask`: resolves then. */
export function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => {
    soon(resolve);
  });
}

/**
 * A number that is another one at a later call if the rest of the process had its chance in between: then work that takes long
 * need not wait for `nextMacrotask` of its own.
 */
function macrotasksSeen(): number {
  if (!isWatched) {
    isWatched = true;
    soon(() => {
      isWatched = false;
      seen++;
    });
  }
  return seen;
}

/** How long work goes on before everything else in the process gets a chance: timers, requests, an `AbortSignal`. */
const breakAfterMs = 20;

/** The breaks of work that takes long. */
export class Breaks {
  readonly #monotonicMs: () => number;
  /** When the work began, or went on after a break; null until the next call. */
  #workingSinceMs: number | null = null;
  /** `macrotasksSeen` at that time. */
  #seen = 0;
  /** When the clock was last read. */
  #readAtMs = Number.NEGATIVE_INFINITY;
  /** Calls that do not read the clock, from now on. */
  #unread = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Null, or what to await before going on. The half of the time shows whether others run anyway, because the work waits now and then. */
  next(): Promise<void> | null {
    if (this.#unread > 0) {
      this.#unread--;
      return null;
    }
    const at = this.#monotonicMs();
    // where calls follow each other within microseconds, eight of them share a reading: it takes a twentieth of such a step
    if (at - this.#readAtMs < 1) this.#unread = 7;
    this.#readAtMs = at;
    if (this.#workingSinceMs === null) {
      this.#workingSinceMs = at;
      this.#seen = macrotasksSeen();
      return null;
    }
    if (at - this.#workingSinceMs < breakAfterMs / 2) return null;
    const hadBreak = this.#seen !== macrotasksSeen();
    if (!hadBreak && at - this.#workingSinceMs < breakAfterMs) return null;
    this.#workingSinceMs = null;
    return hadBreak ? null : nextMacrotask();
  }
}
