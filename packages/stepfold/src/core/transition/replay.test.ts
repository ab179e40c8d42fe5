import { expect, it } from "vitest";
import { startedAt } from "../../../test/core/execution.fixture.ts";
import { expressionLanguage } from "../../expressions/expression-language.ts";
import { compile } from "../definition/compile/compile.ts";
import { fold } from "./apply.ts";
import { Replay } from "./replay.ts";

const workflow = compile({ id: "w", nodes: [{ id: "a", type: "t" }], edges: [] }, expressionLanguage);
const started = startedAt(workflow, "a");
const cancelled = { type: "cancelled", version: 1, at: 5 } as const;

it("has nothing to show before the first event, and takes no other one as the first", () => {
  const replay = new Replay(workflow);
  expect([replay.version, replay.snapshot(), replay.add(cancelled)]).toEqual([-1, null, false]);
  expect([replay.add(started), replay.version]).toEqual([true, 0]);
});

it("goes on from a snapshot, and takes neither a second start nor what does not follow", () => {
  const replay = new Replay(workflow, fold(workflow, [started]));
  expect([replay.add(started), replay.add({ ...cancelled, version: 2 }), replay.version]).toEqual([false, false, 0]);
  expect(replay.add(cancelled)).toBe(true);
  expect(replay.snapshot()).toEqual(fold(workflow, [started, cancelled]));
  expect(replay.add({ ...cancelled, version: 2 })).toBe(false);
});
