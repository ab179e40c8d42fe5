import type { EpochMs } from "../../core/values/json.ts";
import type { Stored } from "./stored-execution.ts";

interface Entry {
  readonly dueAt: EpochMs;
  readonly execution: Stored;
}

/** Executions in the order in which they fall due: a binary heap that forgets outdated entries when it meets them. */
export interface DueQueue {
  /** To be called whenever `dueAt` of an execution was changed. */
  add(execution: Stored): void;
  /** Takes out the execution that is due longest, if it is due at `now`; `timedOnly`: of those that have a time. */
  take(now: EpochMs, timedOnly: boolean): Stored | undefined;
}

/** Two heaps, so that what has a time is found at once, however much is due now and stands before it. */
export function dueQueue(live: ReadonlyMap<string, Stored>): DueQueue {
  const [dueNow, timed] = [dueHeap(live), dueHeap(live)];
  return {
    add: (execution) => (execution.dueAt !== null && execution.dueAt <= 0 ? dueNow : timed).add(execution),
    take: (now, timedOnly) => (timedOnly ? undefined : dueNow.take(now)) ?? timed.take(now),
  };
}

interface DueHeap {
  add(execution: Stored): void;
  take(now: EpochMs): Stored | undefined;
}

/** A queue that stays small however often due times change: outdated entries never outnumber the live ones for long. */
function dueHeap(live: ReadonlyMap<string, Stored>): DueHeap {
  let heap: Entry[] = [];

  const current = ({ dueAt, execution }: Entry): boolean => execution.dueAt === dueAt && live.get(execution.id) === execution;
  const push = (entry: Entry): void => {
    heap.push(entry);
    rise(heap);
  };
  const sweep = (): void => {
    const kept = new Map<Stored, Entry>();
    for (const entry of heap) if (current(entry)) kept.set(entry.execution, entry);
    heap = [...kept.values()].sort((a, b) => (before(a, b) ? -1 : 1));
  };

  return {
    add(execution) {
      if (execution.dueAt === null) return;
      if (heap.length > 2 * live.size + 64) sweep();
      push({ dueAt: execution.dueAt, execution });
    },
    take(now) {
      for (let top = heap[0]; top && top.dueAt <= now; top = heap[0]) {
        sink(heap);
        if (current(top)) return top.execution;
      }
      return undefined;
    },
  };
}

const before = (a: Entry, b: Entry): boolean => (a.dueAt === b.dueAt ? a.execution.seq < b.execution.seq : a.dueAt < b.dueAt);

/** Which of two falls due first. Both do. */
export function isBefore(a: Stored, b: Stored): boolean {
  return before({ dueAt: a.dueAt!, execution: a }, { dueAt: b.dueAt!, execution: b });
}

/** Moves the last entry up to its place. */
function rise(heap: Entry[]): void {
  let at = heap.length - 1;
  const entry = heap[at]!;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!before(entry, heap[parent]!)) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = entry;
}

/** Drops the first entry and moves the last one down from there to its place. */
function sink(heap: Entry[]): void {
  const entry = heap.pop()!;
  if (heap.length === 0) return;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
    if (!before(heap[child]!, entry)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = entry;
}
