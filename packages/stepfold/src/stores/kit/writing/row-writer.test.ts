import { describe, expect, it } from "vitest";
import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { RowAnswer, RowWrite } from "../execution-rows.ts";
import type { ExecutionTable } from "../execution-table.ts";
import { rowWriter } from "./row-writer.ts";

const refused = new StepfoldError("STORE_REJECTED", { store: "test", reason: "what is stored is damaged" });
const made = { now: 1, version: 0, status: "active" } as const;
const answers: Readonly<Record<string, RowAnswer>> = { a: made, b: refused, c: null };

function writeOf(id: string): RowWrite {
  return { kind: "remove", id, when: { incarnation: "i" } };
}

describe("a write that the database refuses", () => {
  it.each([undefined, { maxWrites: 10, isOutage: () => false }])("is refused alone, and sent once (grouping: %j)", async (grouping) => {
    const sent: string[] = [];
    const write = async (writes: readonly RowWrite[]): Promise<RowAnswer[]> => {
      sent.push(...writes.map(({ id }) => id));
      return writes.map(({ id }) => answers[id]!);
    };
    const writer = rowWriter({ write, ...(grouping && { grouping }) } as unknown as ExecutionTable);
    const settled = await Promise.allSettled(["a", "b", "c"].map((id) => writer.write(writeOf(id))));
    expect(settled).toEqual([
      { status: "fulfilled", value: made },
      { status: "rejected", reason: refused },
      { status: "fulfilled", value: null },
    ]);
    expect(sent).toEqual(["a", "b", "c"]);
  });
});
