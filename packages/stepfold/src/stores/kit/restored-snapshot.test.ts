import { describe, expect, it } from "vitest";
import { historyCheckpoint } from "../../core/snapshot/checkpoint.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../testing/index.ts";
import { checkpointKey, restoredSnapshot } from "./restored-snapshot.ts";
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

  describe("with a checkpoint", () => {
    const checkpoint = historyCheckpoint(snapshotAfter(first, stepCommit(first)));
    const checkpointRows = (text = JSON.stringify(checkpoint)) => ({
      ...rows(),
      events: rows().events.slice(2),
      children: [[checkpointKey, text]] as const,
    });

    it("holds what that held, and what came after it", () => {
      const { context } = restoredSnapshot("store", checkpointRows());
      expect(context.step?.map(({ output }) => output)).toEqual([null, 2]);
    });

    it("takes no notice of events that came before it", () => {
      const given = restoredSnapshot("store", { ...checkpointRows(), events: rows().events });
      expect(given).toEqual(restoredSnapshot("store", checkpointRows()));
    });

    it.each([
      ["is missing", { ...checkpointRows(), children: [] }],
      ["is cut off", checkpointRows(JSON.stringify(checkpoint).slice(0, -9))],
      ["is none", checkpointRows("null")],
      ["is of another version", checkpointRows(JSON.stringify({ ...checkpoint, version: 0 }))],
      ["has lost what it held", checkpointRows(JSON.stringify({ version: 1 }))],
      ["is followed by nothing", { ...checkpointRows(), events: [] }],
    ])("is refused if that %s", (_, damaged) => {
      expect(() => restoredSnapshot("store", damaged)).toThrow(expect.objectContaining({ code: "STORE_REJECTED" }));
    });
  });
});
