import { loadFunctions } from "stepfold/expressions";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { flow, type History, second, startHistory } from "../../../test/execution/history.fixture.ts";
import { stateNow } from "../../../test/execution/state.fixture.ts";
import { nodeStateOf } from "./execution-state.ts";

let history: History;

beforeAll(() => loadFunctions());
afterEach(() => history.close());

/** A step that runs, beside one that waits, and nodes behind them. */
const parallel = flow(
  "parallel",
  [
    { id: "hold", type: "set", data: {}, compensate: { type: "noop" } },
    { id: "render", type: "endless" },
    { id: "ask", type: "approval" },
    { id: "meet", type: "noop", join: "all" },
    { id: "sent", type: "end" },
    { id: "fail", type: "broken" },
  ],
  ["hold>render", "hold>ask", "render>meet", "ask>meet@approved", "ask>fail@rejected", "meet>sent"],
);

async function statuses(version?: number): Promise<Record<string, string>> {
  const state = await stateNow(history, version);
  return Object.fromEntries(["hold", "render", "ask", "meet", "sent"].map((id) => [id, nodeStateOf(state, id).status]));
}

describe("what runs when an execution ends", () => {
  it("was cancelled with it, also when steps are undone afterwards, and what was not reached says so", async () => {
    history = await startHistory(parallel, {});
    expect(await statuses()).toEqual({ hold: "completed", render: "active", ask: "paused", meet: "not-yet", sent: "not-yet" });
    await history.environment.advance(5 * second);
    await history.run.cancel({ reason: "no" });
    await history.environment.settle();
    const events = await history.events();
    expect(events.at(-1)).toMatchObject({ undoes: {} });
    expect(await statuses()).toEqual({
      hold: "completed",
      render: "cancelled",
      ask: "cancelled",
      meet: "not-reached",
      sent: "not-reached",
    });
    const { stopped } = await stateNow(history);
    const cancelled = events.find(({ type }) => type === "cancelled")!;
    expect(stopped.map(({ nodeId, to, ran }) => [nodeId, to, ran])).toEqual([
      ["render", cancelled.at, true],
      ["ask", cancelled.at, false],
    ]);
    expect(cancelled.at - stopped[0]!.from).toBeGreaterThanOrEqual(5 * second);
    // the past is as it was
    expect(await statuses(cancelled.version - 1)).toMatchObject({ render: "active", ask: "paused" });
    expect((await stateNow(history, cancelled.version - 1)).stopped).toEqual([]);
  });

  it("was stopped by a failure elsewhere; the node that failed is no stopped one", async () => {
    history = await startHistory(parallel, {});
    await history.run.resume({ step: "ask", payload: { approved: false } });
    await history.environment.settle();
    const { folded, stopped, nodes } = await stateNow(history);
    expect(folded?.status).toBe("failed");
    expect(stopped.map(({ nodeId }) => nodeId)).toEqual(["render"]);
    expect(nodes.get("fail")?.status).toBe("failed");
  });

  it("stays known after a restart, and is stopped anew", async () => {
    history = await startHistory(parallel, {});
    await history.run.cancel({ reason: "no" });
    await history.environment.settle();
    await history.run.restart({ compensated: "keep" });
    await history.environment.advance(second);
    expect((await statuses()).sent).toBe("not-yet");
    expect((await stateNow(history)).stopped.map(({ nodeId }) => nodeId)).toContain("render");
    await history.run.cancel({ reason: "again" });
    await history.environment.settle();
    const { stopped } = await stateNow(history);
    expect(new Set(stopped.map(({ to }) => to)).size).toBe(2);
  });

  it("is not there if it has completed", async () => {
    history = await startHistory(
      flow(
        "short",
        [
          { id: "one", type: "noop" },
          { id: "never", type: "noop" },
        ],
        ["one>never@left"],
      ),
      {},
    );
    const state = await stateNow(history);
    expect(state.folded?.status).toBe("completed");
    expect([state.stopped, nodeStateOf(state, "never").status]).toEqual([[], "not-reached"]);
  });
});
