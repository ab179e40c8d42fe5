import { describe, expect, it } from "vitest";
import { snapshotAfter, startCommit, stepCommit } from "../../testing/index.ts";
import { restoredSnapshot } from "./restored-snapshot.ts";
import { writtenCommit } from "./writing/written-commit.ts";

const first = startCommit("order-1");
const second = stepCommit(first, { outputs: [1, 2] });
const third = stepCommit(second);

/** The rows that are there after the second commit; events of the third may be read with them. */
const rows = () => {
  const { version, status, head } = writtenCommit(second);
  const events = [first, second, third].flatMap((commit) => writtenCommit(commit).events.map(({ text }) => text));
  return { workflowId: "order-1", version, status, head, events, children: [] };
};

describe("a snapshot made of rows", () => {
  it("takes no notice of events after its version", () => {
    expect(restoredSnapshot("store", rows())).toEqual(snapshotAfter(first, second));
  });

  it.each([0, 1, 2])("is refused if event %i is missing", (missing) => {
    const events = rows().events.toSpliced(missing, 1);
    expect(() => restoredSnapshot("store", { ...rows(), events })).toThrow(expect.objectContaining({ code: "STORE_REJECTED" }));
  });
});
