import { expect, it } from "vitest";
import type { Snapshot } from "./snapshot.ts";
import { isWholeSnapshot, snapshotHead } from "./snapshot-head.ts";

it("the head of a snapshot is all of it but what the history and the children hold", () => {
  const head = { workflowId: "a", version: 3, status: "active", activePaths: [], input: 1 } as unknown as Snapshot;
  const whole: Snapshot = { ...head, context: {}, childStates: {}, mapItems: {}, compensations: [] };
  expect(snapshotHead(whole)).toEqual(head);
  expect([isWholeSnapshot(whole), isWholeSnapshot(snapshotHead(whole))]).toEqual([true, false]);
});
