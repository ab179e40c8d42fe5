import type { ExecutionView, ProgressFrame } from "stepfold/client";
import type { Event, StartedEvent } from "stepfold/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { directPort } from "../../test/execution/direct-port.fixture.ts";
import { flow, type History, order, second, startHistory } from "../../test/execution/history.fixture.ts";
import { ExecutionModel } from "./execution-model.ts";
import { ReplayClient } from "./replay/replay-client.ts";

let history: History;

afterEach(() => history.close());

/** A model whose pictures are drawn when the test says so. */
function setUp() {
  const frames: (() => void)[] = [];
  const model = new ExecutionModel("one", {
    replay: new ReplayClient(directPort()),
    now: () => 5_000,
    schedule: (callback) => frames.push(callback),
  });
  const draw = (): void => {
    for (const frame of frames.splice(0)) frame();
  };
  const told = vi.fn();
  model.subscribe(told);
  return { model, frames, draw, told };
}

/** Draws until something is as it should be. */
async function drawnUntil(draw: () => void, isSo: () => boolean): Promise<void> {
  await vi.waitFor(() => {
    draw();
    expect(isSo()).toBe(true);
  });
}

const takeAll = (model: ExecutionModel, events: readonly Event[]): void => {
  for (const event of events) model.take({ type: "event", execution: "one", event });
};

describe("ExecutionModel", () => {
  it("tells its listeners once for all frames of a picture", async () => {
    history = await startHistory(order, { total: 1 });
    const { model, frames, draw, told } = setUp();
    takeAll(model, await history.events());
    expect([frames.length, told.mock.calls.length]).toEqual([1, 0]);
    draw();
    expect([model.revision(), told.mock.calls.length]).toEqual([1, 1]);
  });

  it("takes each event once, in order, and keeps those that come before their definition", async () => {
    history = await startHistory(order, { total: 1 });
    const events = await history.events();
    const { model, draw } = setUp();
    takeAll(model, [events[2]!, ...events.slice(0, 3), events[1]!, events[2]!, ...events]);
    model.take({ type: "event", execution: "another", event: events[0]! });
    expect(model.events).toEqual(events);
    expect(model.unknownHashes).toEqual([(events[0] as StartedEvent).definition.hash]);
    draw();
    expect(model.state).toBeNull();
    model.define(model.unknownHashes[0]!, order);
    expect(model.unknownHashes).toEqual([]);
    await drawnUntil(draw, () => model.state?.version === model.last);
    expect(model.state).toMatchObject({ folded: { status: "error" } });
  });

  it("goes on behind a trimmed part, and follows the definitions of later runs", async () => {
    const rounds = flow(
      "rounds",
      [
        { id: "ask", type: "approval" },
        { id: "again", type: "end", data: { continueAs: { input: {} } } },
      ],
      ["ask>again@approved"],
    );
    history = await startHistory(rounds, {});
    for (let round = 0; round < 3; round++) {
      await history.run.resume({ step: "ask", payload: { approved: true } });
      await history.environment.advance(2 * second);
    }
    const events = await history.events();
    const third = events.findLast(({ type }) => type === "continued")!;
    const { model, draw } = setUp();
    model.define((events[0] as StartedEvent).definition.hash, rounds);
    takeAll(model, [events[0]!, ...events.filter(({ version }) => version >= third.version)]);
    expect(model.last).toBe(events.at(-1)!.version);
    await drawnUntil(draw, () => model.state?.version === model.last);
    expect(model.state).toMatchObject({ run: 4 });
  });

  it("looks at a version of the past until it is told to come back", async () => {
    history = await startHistory(order, { total: 1 });
    const events = await history.events();
    const { model, draw } = setUp();
    // the address of the page names a version before anything is known
    model.look(1);
    expect(model.lookedAt).toBeNull();
    model.define((events[0] as StartedEvent).definition.hash, order);
    takeAll(model, events);
    await drawnUntil(draw, () => model.shown?.version === 1);
    expect([model.lookedAt, model.shown?.nodes.get("price")?.status]).toEqual([1, "completed"]);
    expect(model.shown?.nodes.get("charge")).toMatchObject({ status: "active", attempt: 0 });
    model.look(model.last + 5);
    expect(model.lookedAt).toBeNull();
    model.look(null);
    await drawnUntil(draw, () => model.shown?.version === model.last);
    expect(await model.snapshot(0)).toMatchObject({ version: 0 });
  });

  it("does not show the past as the present while the events up to what the server tells of come in", async () => {
    history = await startHistory(order, { total: 1 });
    const events = await history.events();
    const { model, draw } = setUp();
    const { definition } = events[0] as StartedEvent;
    model.define(definition.hash, order);
    model.take({ type: "head", execution: "one", view: { lease: null, definition, version: 3 } as ExecutionView });
    const seen = new Set<number | undefined>();
    for (const event of events.slice(0, 4)) {
      takeAll(model, [event]);
      draw();
      // what was folded is told after a turn of the event loop
      await new Promise((resolve) => setImmediate(resolve));
      draw();
      seen.add(model.state?.version);
    }
    await drawnUntil(draw, () => model.state?.version === 3);
    expect([...seen].filter((version) => version !== 3)).toEqual([undefined]);
    model.look(1);
    await drawnUntil(draw, () => model.shown?.version === 1);
  });

  it("forgets everything at a reset, and begins again", async () => {
    history = await startHistory(order, { total: 1 });
    const events = await history.events();
    const { model, draw } = setUp();
    model.define((events[0] as StartedEvent).definition.hash, order);
    takeAll(model, events);
    await drawnUntil(draw, () => model.state?.version === model.last);
    model.take({ type: "reset", execution: "one", reason: "replaced" });
    expect([model.last, model.events, model.bars.lines]).toEqual([-1, [], []]);
    takeAll(model, events.slice(0, 2));
    await drawnUntil(draw, () => model.state?.version === 1);
    expect(model.state?.nodes.get("charge")).toMatchObject({ status: "active", attempt: 0 });
  });

  it("says that it was deleted, that the store does not answer, and since when there is no connection", async () => {
    history = await startHistory(order, { total: 1 });
    const { model } = setUp();
    takeAll(model, await history.events());
    model.take({ type: "problem", code: "STORE_UNAVAILABLE" });
    expect(model.problem).toBe("STORE_UNAVAILABLE");
    model.take({ type: "link", isLive: false, againInMs: 2_000, code: "CONNECTION_LOST" });
    expect(model.link).toEqual({ isLive: false, againAt: 7_000, code: "CONNECTION_LOST", newsAt: 5_000 });
    model.take({ type: "link", isLive: true });
    expect(model.link).toMatchObject({ isLive: true, againAt: null });
    model.take({ type: "end", execution: "one", reason: "gone" });
    expect([model.isGone, model.problem, model.last >= 0]).toEqual([true, null, true]);
  });

  it("keeps the progress of what runs, until its attempt has ended or nobody holds the execution", async () => {
    history = await startHistory(order, { total: 1 });
    const events = await history.events();
    const { model } = setUp();
    takeAll(model, events.slice(0, 1));
    const frame: ProgressFrame = { type: "progress", execution: "one", nodeId: "price", pathId: "0", attempt: 1, at: 10 };
    model.take(frame);
    model.take({ ...frame, at: 20, progress: { done: 1 } });
    expect(model.progress.get("0")).toEqual({ frame: { ...frame, at: 20, progress: { done: 1 } }, since: 10 });
    takeAll(model, events);
    expect(model.progress.size).toBe(0);
    model.take({ ...frame, pathId: "0#1/3>0", nodeId: "print" });
    const head = { lease: null, definition: (events[0] as StartedEvent).definition, storeNow: 0 } as ExecutionView;
    model.take({ type: "head", execution: "one", view: head });
    expect([model.progress.size, model.head]).toEqual([0, head]);
  });
});
