import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { ExecutionTable, RowAnswer, RowWrite, RowWritten } from "../execution-table.ts";
import { skipsLocked } from "../row-rules.ts";
import { type GroupCommit, groupCommit } from "./group-commit.ts";

/** Sends writes to a table. */
export interface RowWriter {
  /** Null if its condition did not hold. */
  write(write: RowWrite): Promise<RowWritten | null>;
  /** Resolves when everything that was sent is answered. */
  idle(): Promise<void>;
}

/** Sends writes that are issued together in one round trip, where the table has a use for that. */
export function rowWriter(table: ExecutionTable): RowWriter {
  const { grouping } = table;
  const alone = async (write: RowWrite): Promise<RowWritten | null> => writtenOf((await table.write([write]))[0]!);
  if (!grouping) return { write: alone, idle: async () => undefined };
  const group: GroupCommit<RowWrite, RowWritten | null> = groupCommit({
    name: table.name,
    send: (writes) => table.write(writes),
    // its row is locked by another transaction: this write waits for it alone, and holds up no other
    resultOf: (answer, write) => (answer === "passedOver" && !skipsLocked(write) ? alone(write) : writtenOf(answer)),
    idOf: ({ id }) => id,
    ...grouping,
  });
  return { write: (write) => group.add(write), idle: () => group.idle() };
}

/** @throws StepfoldError with which the database refused the write */
export function writtenOf(answer: RowAnswer): RowWritten | null {
  if (StepfoldError.is(answer)) throw answer;
  return answer === "passedOver" ? null : answer;
}
