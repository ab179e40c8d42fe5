import { macrotasksOver } from "../../../environment/system-environment.ts";
import type { Random } from "../random.ts";

interface Entry {
  readonly atMs: number;
  /** Decides between two entries of the same moment. It is a random number from the seed. */
  readonly priority: number;
  readonly run: () => void;
  isCancelled: boolean;
}

/**
 * Controls the time of a schedule. Everything that takes time is an entry of one heap. The next entry runs when all code has run that
 * follows from the entry before and needs no time.
 */
export class Scheduler {
  /** Whole virtual milliseconds since the schedule began. */
  nowMs = 0;
  /** The number of entries that have run. */
  steps = 0;
  readonly #random: Random;
  readonly #heap: Entry[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  /** Runs a function later. The returned function cancels it. */
  after(delayMs: number, run: () => void): () => void {
    const entry: Entry = { atMs: this.nowMs + Math.ceil(Math.max(0, delayMs)), priority: this.#random.next(), run, isCancelled: false };
    push(this.#heap, entry);
    return () => {
      entry.isCancelled = true;
    };
  }

  /** Lets time pass until `isOver` returns true, no entry is left, or `untilMs` is reached. */
  async run(isOver: () => boolean, untilMs: number): Promise<void> {
    await macrotasksOver();
    while (!isOver()) {
      const entry = this.#heap[0];
      if (!entry || entry.atMs > untilMs) return;
      pop(this.#heap);
      if (entry.isCancelled) continue;
      this.nowMs = entry.atMs;
      this.steps++;
      entry.run();
      await macrotasksOver();
    }
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

/** Removes the first entry. */
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
