import type { Random } from "./random.ts";

// browsers have no `setImmediate`
const { setImmediate: soon = setTimeout } = globalThis;

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
  readonly #macrotasks = new Macrotasks();

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
    await this.#macrotasks.next();
    while (!isOver()) {
      const entry = this.#heap[0];
      if (!entry || entry.atMs > untilMs) return;
      pop(this.#heap);
      if (entry.isCancelled) continue;
      this.nowMs = entry.atMs;
      this.steps++;
      entry.run();
      await this.#macrotasks.next();
    }
  }
}

/** Callbacks of the event loop that are asked for at once: it has to look for input and output only between such a number of them. */
const macrotasksAtOnce = 16;

/** Macrotasks, each after everything that is only promises away has run. Asked for one by one, each takes several microseconds. */
class Macrotasks {
  #asked = 0;
  #next: (() => void) | null = null;

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#next = resolve;
      if (this.#asked > 0) return;
      for (; this.#asked < macrotasksAtOnce; this.#asked++) soon(() => this.#begin());
    });
  }

  #begin(): void {
    this.#asked--;
    this.#next?.();
    this.#next = null;
  }
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
