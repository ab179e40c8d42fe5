import { describe, expect, it } from "vitest";
import { historyCheckpoint } from "../../../core/snapshot/history-checkpoint.ts";
import type { SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../testing/index.ts";
import { writtenCommit } from "../writing/written-commit.ts";
import { wholeHeadOf } from "./restored-head.ts";
import { checkpointKey, restoredSnapshot } from "./restored-snapshot.ts";

const first = startCommit("order-1");
const second = stepCommit(first, { outputs: [1, 2] });
const third = stepCommit(second);

/** The rows after the second commit. The events contain that of the third, as in a read during a concurrent commit. */
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

  describe("whose head refers to an event", () => {
    const referring = (at: string) => {
      const head = { ...(JSON.parse(rows().head) as SnapshotHead), inEvents: { output: at } };
      return { ...rows(), head: JSON.stringify(head) };
    };

    it("has the value of that event", async () => {
      expect(restoredSnapshot("store", referring("2/output")).output).toBe(2);
      const head = JSON.parse(referring("2/output").head) as SnapshotHead;
      const events = async () => [{ version: 2, commitId: "c", text: rows().events[2]! }];
      expect(await wholeHeadOf({ name: "store", events }, head)).toMatchObject({ output: 2 });
    });

    it.each(["2/outputs", "9/output", "x", "items/0#1/0", "2/output/toString"])("is refused if there is nothing at %s", async (at) => {
      expect(() => restoredSnapshot("store", referring(at))).toThrow(expect.objectContaining({ code: "STORE_REJECTED" }));
      const head = JSON.parse(referring(at).head) as SnapshotHead;
      const events = async () => [{ version: 2, commitId: "c", text: rows().events[2]! }];
      await expect(wholeHeadOf({ name: "store", events }, head)).rejects.toMatchObject({ code: "STORE_REJECTED" });
      await expect(wholeHeadOf({ name: "store", events: async () => [] }, head)).rejects.toMatchObject({ code: "STORE_REJECTED" });
    });
  });
});
