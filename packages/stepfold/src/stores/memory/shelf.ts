import type { Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import { type DueQueue, dueQueue } from "./due-queue.ts";
import type { Stored } from "./stored-execution.ts";

/** Everything a memory store holds. */
export interface Shelf {
  readonly now: () => EpochMs;
  readonly retentionMs: number;
  readonly executions: Map<string, Stored>;
  readonly tombstones: Map<string, { readonly status: Status; readonly deletedAt: EpochMs }>;
  /** Text of each definition by its hash. */
  readonly definitions: Map<string, string>;
  readonly due: DueQueue;
  nextSeq: number;
}

/** An empty shelf. */
export function emptyShelf(now: () => EpochMs, retentionMs: number): Shelf {
  const executions = new Map<string, Stored>();
  return { now, retentionMs, executions, tombstones: new Map(), definitions: new Map(), due: dueQueue(executions), nextSeq: 1 };
}

/** Changes when an execution may be claimed. */
export function setDue(shelf: Shelf, stored: Stored, dueAt: EpochMs | null): void {
  if (stored.dueAt === dueAt) return;
  stored.dueAt = dueAt;
  shelf.due.add(stored);
}
