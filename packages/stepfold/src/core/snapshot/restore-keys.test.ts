import { expect, it } from "vitest";
import type { Event } from "./event.ts";
import { restore } from "./restore.ts";
import type { SnapshotHead } from "./snapshot.ts";

const definition = { id: "w", hash: "h" };
const incarnation = "first";
const events: readonly Event[] = [
  { type: "started", version: 0, at: 1, workflowId: "a", definition, incarnation, nodeId: "n", metadata: {} },
  ...[1, 2, 3].map((version): Event => ({ type: "signalled", version, at: 5, name: "x", expiresAt: 1, idempotencyKey: `k${version}` })),
];
const head: SnapshotHead = {
  ...{ schema: 1, workflowId: "a", definition, incarnation, status: "active", currentNodeId: "n", version: 3, metadata: {} },
  ...{ steps: 0, sizeBytes: 0, activePaths: [] },
};
const keysOf = (before: number): readonly string[] | undefined =>
  restore({ head: { ...head, keyRows: { days: [0], before } }, children: [], events }).answered?.map(({ key }) => key);

it("idempotency keys that are in rows are not in the snapshot again", () => {
  expect(keysOf(0)).toEqual(["k1", "k2", "k3"]);
  expect(keysOf(3)).toEqual(["k3"]);
  expect(keysOf(4)).toBeUndefined();
});
