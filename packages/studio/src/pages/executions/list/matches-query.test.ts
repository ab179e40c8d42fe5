import type { ExecutionListQuery } from "stepfold/client";
import { expect, test } from "vitest";
import { noon, rowOf } from "../../../../test/rows.fixture.ts";
import { matchesQuery } from "./matches-query.ts";

const row = rowOf({
  workflowId: "order-1001",
  status: "paused",
  currentNodeId: "approve",
  metadata: { region: "eu", tier: 7, label: "7" },
  error: { name: "Error", message: "card expired", code: "DECLINED", nodeId: "charge" },
  waiting: { kind: "external", nodeId: "approve", until: null, count: 1 },
  waits: [
    { kind: "external", nodeId: "approve", responders: ["ada", "bob"] },
    { kind: "signal", nodeId: "confirm", signal: "payment" },
  ],
});

test.each<[query: ExecutionListQuery, matches: boolean]>([
  [{}, true],
  [{ status: "paused" }, true],
  [{ status: ["active", "paused"] }, true],
  [{ status: ["active"] }, false],
  [{ workflow: "order" }, true],
  [{ workflow: "trip" }, false],
  [{ idPrefix: "order-1" }, true],
  [{ idPrefix: "rder" }, false],
  [{ metadata: { region: "eu" } }, true],
  [{ metadata: { region: "us" } }, false],
  [{ metadata: { tier: "7" } }, true],
  [{ metadata: { label: "7" } }, true],
  [{ metadata: { toString: "7" } }, false],
  [{ createdAfter: noon - 1, createdBefore: noon + 1 }, true],
  [{ createdAfter: noon }, false],
  [{ createdBefore: new Date(noon).toISOString() }, false],
  [{ waiting: "any" }, true],
  [{ waiting: "external", responder: "ada" }, true],
  [{ waiting: "timer" }, false],
  [{ signal: "payment" }, true],
  [{ waiting: "external", signal: "payment" }, false],
  [{ waitingNode: "confirm" }, true],
  [{ responder: "cy", waiting: "external" }, false],
  [{ node: "charge" }, true],
  [{ node: "ship" }, false],
  [{ error: "DECLINED" }, true],
  [{ error: "TIMEOUT" }, false],
  [{ q: "CARD" }, true],
  [{ q: "region" }, true],
  [{ q: "ship" }, false],
])("%j matches: %s", (query, matches) => {
  expect(matchesQuery(row, query)).toBe(matches);
});

test("an execution that waits, but lists no waits, stays", () => {
  expect(matchesQuery({ ...row, waits: [] }, { waiting: "external" })).toBe(true);
  expect(matchesQuery({ ...row, waits: [], waiting: null }, { waiting: "external" })).toBe(false);
});
