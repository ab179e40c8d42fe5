import type { Random } from "./random.ts";

interface Entry {
  readonly atMs: number;
  /** Decides between two of the same moment: by chance, which the seed decides. */
  readonly priority: number;
  readonly run: () => void;
  isCancelled: boolean;
}

/**
 * Owns the time of a schedule. Whatever takes time is an entry of one heap; the next one runs when everything that
 * followed from the one before, and needs no time, has run.
 */
export class Scheduler {
  /** Virtual milliseconds since the schedule began; whole. */
  nowMs = 0;
  /** Entries that have run. */
  steps = 0;
  readonly #random: Random;
  readonly #heap: Entry[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  /** Runs something later; the returned function calls it off. */
  after(delayMs: number, run: () => void): () => void {
    const entry: Entry = { atMs: this.nowMs + Math.ceil(Math.max(0, delayMs)), priority: this.#random.next(), run, isCancelled: false };
    push(this.#heap, entry);
    return () => {
      entry.isCancelled = true;
    };
  }

  /** Lets time pass until `isOver` says so, nothing is left to run, or `untilMs` has come. */
  async run(isOver: () => boolean, untilMs: number): Promise<void> {
    await drain();
    while (!isOver()) {
      const entry = this.#heap[0];
      if (!entry || entry.atMs > untilMs) return;
      pop(this.#heap);
      if (entry.isCancelled) continue;
      this.nowMs = entry.atMs;
      this.steps++;
      entry.run();
      await drain();
    }
  }
}

/** One turn of the event loop: everything that is only promises away has then run. Measured at 1 microsecond. */
function drain(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}

const isBefore = (a: Entry, b: Entry): boolean => (a.atMs === b.atMs ? a.priority < b.priority : a.atMs < b.atMs);

function push(heap: Entry[], entry: Entry): void {
  let at = heap.push(entry) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isBefore(entry, heap[parent]!)) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = entry;
}

/** Drops the first entry. */
function pop(heap: Entry[]): void {
  const entry = heap.pop();
  if (!entry || heap.length === 0) return;
  let at = 0;
  for (let child = 1; child < heap.length; child = 2 * at + 1) {
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
    if (!isBefore(heap[child]!, entry)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = entry;
}
