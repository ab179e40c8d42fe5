import type { CheckedClaim } from "../checked-store.ts";
import type { ExecutionGuard, RowWrite } from "../execution-rows.ts";
import type { ExecutionTable } from "../execution-table.ts";
import type { ListedRow } from "../lists/list-table.ts";
import type { RowWriter } from "../writing/row-writer.ts";
import { partitionOf, rowPermit } from "./partitions.ts";
import { waitsForRate } from "./rate-key.ts";

/** The most executions that one claim moves, because every call has to be answered within the runtime's time limit. */
const maxMovedByClaim = 2_000;

/** What one claim may still move. */
export class Moves {
  #left = maxMovedByClaim;
  readonly #onOver: () => void;

  /** @param onOver called when the claim has moved as many as it may */
  constructor(onOver: () => void = () => undefined) {
    this.#onOver = onOver;
  }

  /** How many more the claim may move. */
  get left(): number {
    return this.#left;
  }

  /** Counts what was moved. */
  add(count: number): void {
    this.#left -= count;
    if (count > 0 && this.#left === 0) this.#onOver();
  }
}

/** A claim that counts what it moves. */
export interface CountedClaim extends CheckedClaim {
  readonly moves: Moves;
}

/** Due executions, without those that a process leaves to others. */
export interface Runnable {
  readonly guards: readonly ExecutionGuard[];
  /** The ids of those that were moved into another partition. */
  readonly moved: ReadonlySet<string>;
}

/**
 * Leaves out executions whose definition this process cannot run. They are moved into the partition of their definition, where they delay no
 * claim of this process any more, and where a process that can run them claims them. If a claim has moved as many as it may, the others stay
 * where they are: the next claim moves them.
 */
export async function leaveLacking(
  table: Pick<ExecutionTable, "heads">,
  writer: RowWriter,
  guards: readonly ExecutionGuard[],
  { lacks, moves }: Pick<CountedClaim, "lacks" | "moves">,
): Promise<Runnable> {
  // what is in the partition of a definition is claimed only by processes that have it
  const unknown = lacks && lacks.size > 0 ? guards.filter(({ permit }) => partitionOf(permit?.key).definition === null) : [];
  if (unknown.length === 0) return { guards, moved: new Set() };
  const rows = await table.heads(unknown.map(({ id }) => id));
  const hashes = new Map(rows.map((row) => [row.id, definitionHashIn(row)]));
  const lacking = unknown.filter(({ id }) => lacks!.has(hashes.get(id) ?? ""));
  const written = await Promise.all(lacking.slice(0, moves.left).map((guard) => writer.write(moveOf(guard, hashes.get(guard.id)!))));
  const left = new Set(lacking.map(({ id }) => id));
  const moved = new Set(lacking.filter((_, index) => written[index]).map(({ id }) => id));
  moves.add(moved.size);
  return { guards: guards.filter(({ id }) => !left.has(id)), moved };
}

/** The write that moves a due execution into the partition of its definition, unless it was claimed meanwhile. */
function moveOf(guard: ExecutionGuard, definition: string): RowWrite {
  const { id, incarnation, fence, owner, permit } = guard;
  return {
    kind: "update",
    id,
    skipLocked: true,
    when: { incarnation, fence, held: owner !== null, ...(!waitsForRate(guard) && { due: true }) },
    set: { permit: rowPermit({ ...partitionOf(permit?.key), definition }, permit?.limit) },
  };
}

/** Reads the hash of the definition that an execution follows. Null: its row is damaged, and its load reports the damage. */
function definitionHashIn({ definition, head }: ListedRow): string | null {
  try {
    const present = (JSON.parse(head) as { readonly definition?: { readonly hash: string } }).definition;
    return (present ?? (JSON.parse(definition) as { readonly hash: string })).hash;
  } catch {
    return null;
  }
}
