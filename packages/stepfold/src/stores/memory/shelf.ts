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
  /** Executions without a permit. */
  readonly due: DueQueue;
  /** Those that take turns, by what they share. */
  readonly turns: Map<string, Turns>;
  nextSeq: number;
}

/** Executions that share a key. */
export interface Turns {
  readonly due: DueQueue;
  /** Those that were claimed, and perhaps still are. */
  readonly held: Set<Stored>;
  /** How many there are in all. */
  members: number;
}

/** An empty shelf. */
export function emptyShelf(now: () => EpochMs, retentionMs: number): Shelf {
  const executions = new Map<string, Stored>();
  const due = dueQueue(executions);
  return { now, retentionMs, executions, tombstones: new Map(), definitions: new Map(), due, turns: new Map(), nextSeq: 1 };
}

/** Puts an execution where it is found by its id, and by those who share its key. */
export function place(shelf: Shelf, stored: Stored): void {
  shelf.executions.set(stored.id, stored);
  if (!stored.permit) return;
  const { key } = stored.permit;
  const turns = shelf.turns.get(key) ?? { due: dueQueue(shelf.executions), held: new Set(), members: 0 };
  turns.members++;
  shelf.turns.set(key, turns);
}

/** Takes it away. */
export function remove(shelf: Shelf, stored: Stored): void {
  shelf.executions.delete(stored.id);
  const turns = turnsOf(shelf, stored);
  if (!turns) return;
  turns.held.delete(stored);
  if (--turns.members === 0) shelf.turns.delete(stored.permit!.key);
}

/** Those with whom it takes turns; undefined if with nobody. */
export function turnsOf(shelf: Shelf, { permit }: Stored): Turns | undefined {
  return permit ? shelf.turns.get(permit.key) : undefined;
}

/** Changes when an execution may be claimed. */
export function setDue(shelf: Shelf, stored: Stored, dueAt: EpochMs | null): void {
  if (stored.dueAt === dueAt) return;
  stored.dueAt = dueAt;
  (turnsOf(shelf, stored)?.due ?? shelf.due).add(stored);
}
