import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { RowAnswer, RowWrite, RowWritten } from "../execution-rows.ts";
import type { ExecutionTable } from "../execution-table.ts";
import { skipsLocked } from "../row-rules.ts";
import { type GroupCommit, groupCommit } from "./group-commit.ts";

/** Sends writes to a table. */
export interface RowWriter {
  /** Makes a write. Null: its condition did not hold, its row is not there, or `skipLocked` made it pass over a locked row. */
  write(write: RowWrite): Promise<RowWritten | null>;
  /** Resolves when all groups that were sent are answered. Writes of a table without `grouping` are not waited for. */
  idle(): Promise<void>;
}

/** Makes a writer for a table. It sends writes in groups if the table has `grouping`. */
export function rowWriter(table: ExecutionTable): RowWriter {
  const { grouping } = table;
  const alone = async (write: RowWrite): Promise<RowWritten | null> => writtenOf((await table.write([write]))[0]!);
  if (!grouping) return { write: alone, idle: async () => undefined };
  const group: GroupCommit<RowWrite, RowWritten | null> = groupCommit({
    name: table.name,
    send: (writes) => table.write(writes),
    // the row may be locked by another transaction: the write is sent again alone and waits, so that it does not delay the group
    resultOf: (answer, write) => (answer === "passedOver" && !skipsLocked(write) ? alone(write) : writtenOf(answer)),
    idOf: ({ id }) => id,
    ...grouping,
  });
  return { write: (write) => group.add(write), idle: () => group.idle() };
}

/** Reads the answer to a write. @throws StepfoldError the error with which the database refused the write */
export function writtenOf(answer: RowAnswer): RowWritten | null {
  if (StepfoldError.is(answer)) throw answer;
  return answer === "passedOver" ? null : answer;
}
