import { describe, expect, it } from "vitest";
import { explain } from "../../src/core/explain/explain.ts";
import { flow } from "../nodes/workflow.fixture.ts";
import { at, engineOf, inTime, minute, run, told } from "./explain.fixture.ts";

describe("explain: children", () => {
  const cases = ["ask", "nap", "flaky", "signal"];
  const inner = flow(
    "inner",
    {
      what: ["switch", { value: "{{ input }}", cases: cases.map((equals) => ({ equals, handle: equals })) }],
      ask: "approval",
      nap: ["wait", { for: "5m" }],
      flaky: "flaky",
      signal: ["signal", { name: "go" }],
      done: "noop",
    },
    [...cases.map((name) => `what>${name}@${name}`), "what>done@default"],
  );
  const mapOf = (data: object): object =>
    flow("w", { m: ["map", { workflow: "inner", items: "{{ input }}", ...data }] }, [], { workflows: { inner } });

  it("counts the items of a map, and tells about those that somebody can move", async () => {
    const input = ["done", "nap", "flaky", "signal", "ask", "done", "flaky", "ask", "ask"];
    const { whole, places, next } = await run(mapOf({ concurrency: 2 }), input);
    expect(whole).toBe("5 places are open: 2 are to be retried, 1 waits for an answer, 1 waits for a signal, 1 waits for a time.");
    expect(places).toEqual([
      "m: has 2 of 9 items done, 2 to be retried, 1 waits for an answer, 1 waits for a signal, 1 waits for a time, 2 not begun",
      "m[4]/ask: waits for an answer",
      'm[3]/signal: waits for the signal "go"',
      `m[2]/flaky: failed (attempt 1): The shop is closed.; is tried again at ${inTime(10_000)}`,
      `m[6]/flaky: failed (attempt 1): The shop is closed.; is tried again at ${inTime(10_000)}`,
      `m[1]/nap: waits until ${inTime(5 * minute)}, and then goes on`,
    ]);
    expect(next).toBe(`At ${inTime(10_000)} m[2]/flaky is tried again (attempt 2).`);
  });

  it("gives the counts as data", async () => {
    const [place] = explain(await engineOf(mapOf({ concurrency: 1 })).execute({ input: ["done", "ask", "flaky", "done"] })).places;
    const items = { total: 4, done: 1, failed: 0, cancelled: 0, underWay: 0, retrying: 1, waiting: 1, timed: 0, queued: 0, notBegun: 1 };
    expect(place).toMatchObject({ address: "m", pathId: "0", until: null, items });
  });

  it("counts an item that was cancelled before it began only as cancelled", async () => {
    const engine = engineOf(mapOf({ concurrency: 1 }));
    const paused = await engine.execute({ input: ["flaky", "done", "done"] });
    const cancelled = await engine.send(paused, { type: "cancel", target: { node: "m", item: 2 } });
    const [place] = explain(cancelled).places;
    expect(place).toMatchObject({ items: { total: 3, retrying: 1, cancelled: 1, notBegun: 1 } });
    expect(place?.sentence).toBe("has 0 of 3 items done, 1 cancelled, 1 to be retried, 1 not begun");
  });

  it("says what waits for a place in the map", async () => {
    const engine = engineOf(mapOf({ concurrency: 1 }));
    const paused = await engine.execute({ input: ["ask", "ask", "flaky", "done"] });
    const answered = await engine.send(paused, { type: "resume", target: "m[0]/ask", payload: { approved: true } });
    expect(told(answered, engine.workflow)).toMatchObject({
      places: [
        "m: has 0 of 4 items done, 1 to be retried, 1 waits for an answer, 1 waits for a free slot, 1 not begun",
        "m[1]/ask: waits for an answer",
        expect.stringMatching(/^m\[2\]\/flaky: failed/),
        "m[0]/ask: waits for a free slot: its map runs as many items at once as its concurrency allows",
      ],
      next: expect.stringContaining("m[2]/flaky is tried again"),
    });
  });

  it("says that an item is under way", async () => {
    const paused = await engineOf(mapOf({})).execute({ input: ["ask", "ask"] });
    const answered = await engineOf(mapOf({})).send(paused, { type: "resume", target: "m[1]/ask", payload: { approved: true } });
    expect(told(answered)).toEqual({
      whole: "2 places are open: 1 is ready to run, 1 waits for an answer.",
      places: [
        "m: has 0 of 2 items done, 1 under way, 1 waits for an answer",
        "m[0]/ask: waits for an answer",
        "m[1]/ask: is ready to go on",
      ],
      next: "m[1]/ask is ready to go on.",
    });
  });

  it("says when a map goes on, and what becomes of the rest", async () => {
    const input = ["ask", "ask", "ask"];
    expect((await run(mapOf({ completeWhen: 2 }), input)).places[0]).toBe(
      "m: has 0 of 3 items done, 3 wait for an answer; goes on when 2 are done",
    );
    expect((await run(mapOf({ completeWhen: "done >= 2" }), input)).places[0]).toMatch(/; goes on as soon as its completeWhen is true$/);
    const engine = engineOf(mapOf({ completeWhen: 1, remaining: "finish" }));
    const draining = await engine.execute({
      snapshot: await engine.execute({ input }),
      target: "m[0]/ask",
      externalPayload: { approved: true },
    });
    expect(told(draining, engine.workflow).places[0]).toBe("m: lets the rest of its items finish: 1 of 3 items done, 2 wait for an answer");
  });

  it("says what an open map without items waits for", async () => {
    const engine = engineOf(mapOf({ open: true, toleratedFailures: 5 }));
    let snapshot = await engine.execute({ input: [] });
    expect(told(snapshot, engine.workflow)).toEqual({
      whole: "m has 0 of 0 items done; takes more items until it is closed.",
      places: ["m: has 0 of 0 items done; takes more items until it is closed"],
      next: null,
    });
    snapshot = await engine.execute({ snapshot: await engine.send(snapshot, { type: "addItem", node: "m", item: "ask" }) });
    snapshot = await engine.send(snapshot, { type: "cancel", target: { node: "m", item: 0 } });
    expect(told(snapshot).whole).toBe("m has 0 of 1 item done, 1 cancelled; takes more items until it is closed.");
  });

  it("tells of a sub-workflow, and of what is inside, by its address", async () => {
    const middle = flow("middle", { each: ["map", { workflow: "inner", items: ["ask", "signal"] }] });
    const workflow = flow("w", { sub: ["workflow", { workflow: "middle" }] }, [], { workflows: { middle, inner } });
    const { whole, places } = await run(workflow);
    expect(whole).toBe("2 places are open: 1 waits for an answer, 1 waits for a signal.");
    expect(places).toEqual([
      'sub: runs the workflow "middle"',
      "sub/each: has 0 of 2 items done, 1 waits for an answer, 1 waits for a signal",
      "sub/each[0]/ask: waits for an answer",
      'sub/each[1]/signal: waits for the signal "go"',
    ]);
  });

  it("counts an item by what it asks for, also where that is deep inside or asked twice", async () => {
    const both = flow("both", { s: "noop", g: ["signal", { name: "go" }], h: ["signal", { name: "go" }], a: "approval", b: "approval" }, [
      "s>g",
      "s>h",
      "s>a",
      "s>b",
    ]);
    const workflow = flow("w", { m: ["map", { workflow: "both", items: [1, 2] }] }, [], { workflows: { both } });
    expect((await run(workflow)).places[0]).toBe("m: has 0 of 2 items done, 2 wait for an answer");
  });

  it("says who is still to be told of its end", () => {
    const snapshot = { ...at({}), activePaths: [], currentNodeId: "pay", ending: { status: "failed", nodeId: "pay", begun: [] } as const };
    const outbox = ["p", "p", "q"].map((to, i) => ({ id: `7.${i}`, type: "cancel", to, waitId: "0@1" }) as const);
    expect(told({ ...snapshot, outbox }).whole).toBe(
      'Failed at pay; messages are still to be delivered to the execution "p" and the execution "q".',
    );
    const toAll = { id: "7.3", type: "broadcast", name: "paid", key: "k", waitId: "0@1" } as const;
    expect(told({ ...snapshot, outbox: [outbox[0]!, toAll] }).whole).toContain(
      'delivered to the execution "p" and all executions that wait for its signal.',
    );
  });

  it("says which item is being undone", () => {
    const undo = { nodeId: "book", status: "ready", undoes: { scope: "0#1/3", pathId: "0", version: 4 } };
    expect(told(at(undo)).whole).toBe("book is being undone (item 3).");
    expect(told(at({ ...undo, undoes: { scope: "0#1", pathId: "0" } })).whole).toBe("book is being undone.");
  });

  it("stays short and quick with 10,000 items, and with many maps", async () => {
    const engine = engineOf(mapOf({}));
    const snapshot = await engine.execute({ input: Array(10_000).fill("ask") });
    const { sentence, places, more } = explain(snapshot, engine.workflow);
    expect(sentence).toBe("10,000 places wait for an answer.");
    expect(places.map(({ address }) => address)).toEqual(["m", "m[0]/ask", "m[1]/ask", "m[2]/ask", "m[3]/ask", "m[4]/ask"]);
    expect(more).toBe(9_995);
    const middle = flow("middle", { each: ["map", { workflow: "inner", items: Array(10).fill("ask") }] });
    const maps = flow("w", { m: ["map", { workflow: "middle", items: Array(20).fill(1) }] }, [], { workflows: { middle, inner } });
    const nested = explain(await engineOf(maps).execute({}));
    expect(nested).toMatchObject({ places: { length: 31 }, more: 190 });
    const forks = ["a", "b", "c", "d", "e", "f", "g", "h"];
    const wide = Object.fromEntries(forks.map((id) => [id, ["map", { workflow: "inner", items: Array(10).fill("ask") }] as const]));
    const edges = forks.map((id) => `s>${id}`);
    const all = explain(await engineOf(flow("w", { s: "noop", ...wide }, edges, { workflows: { inner } })).execute({}));
    expect(all).toMatchObject({ places: { length: 40 }, more: 48 });
  });
});
