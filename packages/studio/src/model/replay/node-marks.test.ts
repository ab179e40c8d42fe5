import type { Event } from "stepfold";
import { afterEach, describe, expect, it } from "vitest";
import { flow, type History, order, second, startHistory } from "../../../test/execution/history.fixture.ts";
import { NodeMarks } from "./node-marks.ts";

let history: History;

afterEach(() => history.close());

function marksOf(events: readonly Event[]): NodeMarks {
  const marks = new NodeMarks();
  for (const event of events) marks.see(event);
  return marks;
}

describe("NodeMarks", () => {
  it("count visits and handles, and keep the last error until the next attempt passes", async () => {
    history = await startHistory(order, { total: 1 });
    const before = marksOf(await history.events()).marks;
    expect(before.get("charge")).toMatchObject({ visits: 0, open: "retrying", attempt: 1, error: { message: "503 Service Unavailable" } });
    await history.environment.advance(11 * second);
    await history.run.resume({ step: "approve", payload: { approved: false }, by: "ada" });
    await history.environment.settle();
    const { marks } = marksOf(await history.events());
    expect(marks.get("charge")).toMatchObject({ visits: 1, outcome: "completed", open: null, attempt: 2, error: null, lastHandles: [""] });
    expect(marks.get("charge")?.tookMs).toBeGreaterThanOrEqual(10 * second);
    expect([...marks.get("approve")!.handles]).toEqual([["rejected", 1]]);
    expect(marks.get("declined")).toMatchObject({ visits: 1, outcome: "completed" });
  });

  it("leave by timeout, by an error, and by a handle that has no edge", async () => {
    const workflow = flow(
      "ends",
      [
        { id: "ask", type: "approval", data: { timeout: "1 minute" } },
        { id: "late", type: "broken" },
        { id: "caught", type: "gate" },
        { id: "never", type: "noop" },
      ],
      ["ask>late@timeout", "late>caught@error", "caught>never"],
    );
    history = await startHistory(workflow, {});
    await history.environment.advance(61 * second);
    const { marks } = marksOf(await history.events());
    expect(marks.get("ask")).toMatchObject({ outcome: "failed", lastHandles: ["timeout"] });
    expect(marks.get("late")).toMatchObject({ outcome: "failed", lastHandles: ["error"], error: { code: "DECLINED" } });
    expect(marks.get("caught")).toMatchObject({ outcome: "completed", lastHandles: ["auth-error"] });
    expect(marks.has("never")).toBe(false);
  });

  it("know that one answer of several does not end a wait", async () => {
    const workflow = flow("votes", [{ id: "vote", type: "approval", data: { responders: ["ada", "bob", "cy"], quorum: 2 } }]);
    history = await startHistory(workflow, {});
    await history.run.resume({ step: "vote", payload: { approved: true }, by: "ada" });
    expect(marksOf(await history.events()).marks.get("vote")).toMatchObject({ open: "paused" });
    await history.run.resume({ step: "vote", payload: { approved: true }, by: "bob" });
    await history.environment.settle();
    expect(marksOf(await history.events()).marks.get("vote")).toMatchObject({ open: null, outcome: "completed" });
  });

  it("say what was undone, and what was cancelled by another node", async () => {
    const workflow = flow(
      "saga",
      [
        { id: "hold", type: "set", data: {}, compensate: { type: "noop" } },
        { id: "wait", type: "approval" },
        { id: "stop", type: "noop", cancels: ["wait"] },
        { id: "fail", type: "broken" },
      ],
      ["hold>wait", "hold>stop", "stop>fail"],
    );
    history = await startHistory(workflow, {});
    await history.environment.settle();
    const { marks } = marksOf(await history.events());
    expect(marks.get("hold")).toMatchObject({ outcome: "completed", undo: "undone" });
    expect(marks.get("wait")).toMatchObject({ outcome: "cancelled", open: null });
    expect(marks.get("fail")).toMatchObject({ outcome: "failed" });
  });

  it("go on in a copy without changing the original", async () => {
    history = await startHistory(order, { total: 1 });
    const events = await history.events();
    const marks = marksOf(events.slice(0, 2));
    const copy = marks.copy();
    for (const event of events.slice(2)) copy.see(event);
    expect(copy.marks.get("charge")).toBeDefined();
    expect(marks.marks.get("charge")).toBeUndefined();
    expect(copy.marks).toEqual(marksOf(events).marks);
  });

  it("begin with what a fork has taken over", async () => {
    history = await startHistory(order, { total: 1 });
    const fork = await history.run.fork({ workflowId: "fork" });
    const started = (await fork.snapshot()).from;
    expect(started).toMatchObject({ reason: "fork" });
    const events = await history.eventsOf("fork");
    const { marks } = marksOf(events.slice(0, 1));
    expect(marks.get("price")).toMatchObject({ outcome: "completed", visits: 1 });
    expect(marks.get("approve")).toMatchObject({ open: "paused" });
  });
});
