import type { Environment } from "../ports/environment.ts";

/** The longest delay of a timer of the platform; a longer one would fire at once. */
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
      // in browsers a timer is a number, and does not keep a process alive
      if (background && typeof timer === "object") timer.unref();
    };
    arm();
    return () => clearTimeout(timer);
  },
});

/** Every byte as two hexadecimal digits. */
const hex: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Random bytes for the next ids, 10 for each: it is much faster to ask for many bytes at once. */
const randomBytes = new Uint8Array(4_090);
/** How many of these bytes are used already. */
let usedBytes = randomBytes.length;
/** The beginning that all ids of one millisecond have in common. */
let time = { atMs: -1, text: "" };

/** Makes a UUID of version 7 (RFC 9562). It begins with the time, so that ids from about the same time are close together in an index. */
function uuid7(): string {
  const now = Date.now();
  if (now !== time.atMs) {
    const digits = (now + 2 ** 48).toString(16);
    time = { atMs: now, text: `${digits.slice(1, 9)}-${digits.slice(9)}-` };
  }
  if (usedBytes === randomBytes.length) {
    crypto.getRandomValues(randomBytes);
    usedBytes = 0;
  }
  const at = usedBytes;
  usedBytes += 10;
  const next = (index: number): string => hex[randomBytes[at + index]!]!;
  const version = hex[0x70 | (randomBytes[at]! & 0x0f)]!;
  const variant = hex[0x80 | (randomBytes[at + 2]! & 0x3f)]!;
  return `${time.text}${version}${next(1)}-${variant}${next(3)}-${next(4)}${next(5)}${next(6)}${next(7)}${next(8)}${next(9)}`;
}

/**
 * A time by which something has to be done. The deadlines of one queue form a ring, so that adding or removing one only sets four fields.
 */
export class Deadline {
  /** On the monotonic clock, so that a change of the system clock does not expire every step at once. */
  readonly atMs: number;
  readonly expire: () => void;
  #before: Deadline = this;
  #after: Deadline = this;

  constructor(atMs: number, expire: () => void) {
    this.atMs = atMs;
    this.expire = expire;
  }

  /** The next deadline of the queue; for the end of a queue, the first one. */
  get next(): Deadline {
    return this.#after;
  }

  /** Adds this deadline to a queue, as the last one. @param end the element that stands for the queue, and is not a deadline itself */
  append(end: Deadline): void {
    this.#before = end.#before;
    this.#after = end;
    this.#before.#after = this;
    end.#before = this;
  }

  /** Removes this deadline, so that it does not expire. Safe to call twice. */
  cancel(): void {
    this.#before.#after = this.#after;
    this.#after.#before = this.#before;
    this.#before = this;
    this.#after = this;
  }
}

/**
 * Many timeouts on one timer. Steps with the same timeout expire in the order in which they began, so each duration has its own queue. Most
 * steps end long before their timeout: then a deadline costs an insertion and a removal, and the timer stays as it is until it fires.
 */
export class Deadlines {
  readonly #environment: Environment;
  /** The end of each queue, by the duration in milliseconds. */
  readonly #queues = new Map<number, Deadline>();
  #timer: { readonly atMs: number; readonly cancel: () => void } | null = null;
  /** The calls of `during` that are under way. */
  #waiting = 0;
  /** True: such a call waits for something outside its own code, so the timer keeps the process alive. */
  #isForeground = false;
  /** True from the begin of a call until the event loop has gone round. */
  #isLooking = false;

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

  /**
   * Waits for work whose timeouts may be all that is left in this process, as no worker runs in it: until the work is done, the timer keeps the
   * process alive. Work that ends before the event loop goes round costs no timer of its own.
   */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting++;
    if (!this.#isLooking && !this.#isForeground) this.#look();
    try {
      return await work();
    } finally {
      this.#waiting--;
      if (this.#waiting === 0 && this.#isForeground) this.#rest();
    }
  }

  /** Looks after the next round of the event loop, until which the process lives anyway, whether a call still waits. */
  #look(): void {
    this.#isLooking = true;
    onNextMacrotask(() => {
      this.#isLooking = false;
      this.#isForeground = this.#waiting > 0;
      if (this.#isForeground && this.#timer) this.#arm(this.#timer.atMs);
    });
  }

  /** Ends the timer, or lets it go on in the background if there are deadlines left. */
  #rest(): void {
    this.#isForeground = false;
    if (!this.#timer) return;
    const isEmpty = [...this.#queues.values()].every((end) => end.next === end);
    if (isEmpty) {
      this.#timer.cancel();
      this.#timer = null;
    } else this.#arm(this.#timer.atMs);
  }

  #arm(atMs: number): void {
    this.#timer?.cancel();
    const background = !this.#isForeground;
    const cancel = this.#environment.after(Math.max(0, atMs - this.#environment.monotonicMs()), () => this.#fire(), { background });
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

/** Calls back after everything else that is ready in this process had a chance to run: timers, the network, other executions. */
export function onNextMacrotask(callback: () => void): void {
  waitingCallbacks++;
  setImmediateOrTimeout(() => {
    waitingCallbacks--;
    callback();
  });
}

// browsers have no `setImmediate`
const { setImmediate: setImmediateOrTimeout = setTimeout } = globalThis;

/** How many callbacks wait for the next round of the event loop. */
let waitingCallbacks = 0;

/** Resolves when nothing in this library waits for the event loop any more: all code has run that needs no time. For virtual clocks. */
export async function macrotasksOver(): Promise<void> {
  const turn = (): Promise<void> => new Promise((resolve) => void setImmediateOrTimeout(resolve));
  do await turn();
  while (waitingCallbacks > 0);
}

/** The number that `macrotasksSeen` returns. */
let macrotaskCount = 0;
/** True while a callback is waiting that increases this number. */
let isCounting = false;

/** What tells Node.js from other runtimes that have its `process`, and is absent where there is none. */
interface NodeProcess {
  readonly versions?: Readonly<Record<string, string | undefined>>;
  readonly nextTick?: (callback: () => void) => void;
}

const { versions = {}, nextTick }: NodeProcess = (globalThis as { readonly process?: NodeProcess }).process ?? {};
const isNode = versions.node !== undefined && versions.bun === undefined && versions.deno === undefined;
/** Node.js calls these callbacks once no promise is left that is ready; other runtimes have none, or call them at other times. */
const afterMicrotasks = isNode ? nextTick : undefined;
/** How many callbacks in a row may come without a round of the event loop. */
const maxWithoutRound = 50;
let withoutRound = 0;

/** Calls back once everything has run that waits for nothing but promises which are ready: at the latest in the next round of the event loop. */
export function onRest(callback: () => void): void {
  if (afterMicrotasks && ++withoutRound < maxWithoutRound) {
    // a callback that another one adds would come before the promises that are ready
    queueMicrotask(() => afterMicrotasks(callback));
    return;
  }
  withoutRound = 0;
  onNextMacrotask(callback);
}

/** Does the same as `onNextMacrotask`, as a promise. */
export function nextMacrotask(): Promise<void> {
  return new Promise(onNextMacrotask);
}

/**
 * Returns a number that changes between two calls if the rest of the process had a chance to run in between. Then long work need not await
 * `nextMacrotask` itself.
 */
export function macrotasksSeen(): number {
  if (!isCounting) {
    isCounting = true;
    onNextMacrotask(() => {
      isCounting = false;
      macrotaskCount++;
    });
  }
  return macrotaskCount;
}

/** How long work continues before everything else in the process gets a chance to run: timers, requests, an `AbortSignal`. */
const breakAfterMs = 20;

/** Decides when long work has to take a break, so that the rest of the process can run. */
export class Breaks {
  readonly #monotonicMs: () => number;
  /** When the work began, or continued after a break; null before the first call, and from a break to the call after it. */
  #workingSinceMs: number | null = null;
  /** The result of `macrotasksSeen` at that time. */
  #seen = 0;
  /** When the clock was last read. */
  #readAtMs = Number.NEGATIVE_INFINITY;
  /** How many of the next calls do not read the clock. */
  #unread = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /**
   * Returns null, or a promise to await before the work continues. After half of the time, it checks whether the rest of the process ran
   * anyway, because the work has waited for something.
   */
  next(): Promise<void> | null {
    if (this.#unread > 0) {
      this.#unread--;
      return null;
    }
    const at = this.#monotonicMs();
    // if calls follow each other within a millisecond, eight of them share a reading of the clock: it takes a twentieth of the time of such
    // a step
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

/** The wait of a turn for news: it ends when something wakes the turn, or at a time. */
export class News {
  readonly #environment: Pick<Environment, "after">;
  readonly #now: () => number;
  /** Ends the wait; null while the turn does not wait. */
  #end: (() => void) | null = null;

  constructor(environment: Pick<Environment, "after">, now: () => number) {
    this.#environment = environment;
    this.#now = now;
  }

  /** There is news: the turn looks again. */
  wake(): void {
    this.#end?.();
  }

  /**
   * Waits until `wake` is called, or until a time. Not an async function: that would make every step wait for one more promise.
   *
   * @param at null: only `wake` ends the wait
   */
  wait(at: number | null): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#end = null;
        resolve();
      };
      if (at === null) {
        this.#end = end;
        return;
      }
      const disarm = this.#environment.after(Math.max(0, at - this.#now()), end);
      this.#end = () => {
        disarm();
        end();
      };
    });
  }
}
