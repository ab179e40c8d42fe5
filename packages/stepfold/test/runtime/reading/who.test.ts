import { afterEach, describe, expect, it } from "vitest";
import type { Event } from "../../../src/core/snapshot/event.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { BulkAction } from "../../../src/runtime/bulk/bulk.ts";
import type { Run } from "../../../src/runtime/handle/run.ts";
import { closeAll, line, nodeDefinitions, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const list = { id: "list", nodes: [{ id: "m", type: "map", data: { workflow: "each", items: [1], open: true } }], edges: [] };
/** A runtime of this test. */
const bench = () => setUp({ workflows, nodeDefinitions: { ...builtinNodes, ...nodeDefinitions } });
const workflows = [line("talk", "ask"), line("try", "flaky"), { ...list, workflows: { each: line("each", "ask") } }];

async function last(run: Run): Promise<Event> {
  return (await run.events({ before: Number.MAX_SAFE_INTEGER, limit: 1 })).items[0]!;
}

describe("who sent a command", () => {
  const by = "ada";
  const commands: readonly (readonly [string, string, (run: Run) => Promise<unknown>, string])[] = [
    ["an answer", "talk", (run) => run.resume({ payload: { approved: true }, by }), "resumed"],
    ["a signal", "talk", (run) => run.signal("news", 1, { by }), "signalled"],
    ["a cancellation", "talk", (run) => run.cancel({ reason: "late", by }), "cancelled"],
    ["a change of metadata", "talk", (run) => run.setMetadata({ a: 1 }, { by }), "metadataSet"],
    ["a retry", "try", (run) => run.retry({ by }), "retried"],
    ["an item", "list", (run) => run.addItem("m", 2, { by }), "itemAdded"],
    ["the end of a map", "list", (run) => run.closeMap("m", { by }), "mapClosed"],
    ["the completion of a map", "list", (run) => run.completeMap("m", { by }), "mapClosed"],
  ];

  it.each(commands)("is in the event of %s, and in no other", async (_name, workflow, send, type) => {
    const { runtime } = bench();
    const run = await runtime.start(workflow);
    await run.waitFor(["paused", "error"]);
    const { version } = await run.snapshot();
    await send(run);
    const { items } = await run.events();
    expect(items.filter(({ who }) => who !== undefined).map((event) => [event.type, event.version, event.who])).toEqual([
      [type, version + 1, by],
    ]);
  });

  it("is in the events of a start, a fork and a restart", async () => {
    const { runtime } = bench();
    const run = await runtime.start("talk", { by });
    expect((await run.events()).items[0]).toMatchObject({ type: "started", who: by });
    const fork = await run.fork({ by: "bob" });
    expect((await fork.events()).items[0]).toMatchObject({ type: "started", who: "bob" });
    await run.cancel();
    await run.settled();
    await run.restart({ by: "cy" });
    expect((await run.events()).items.find(({ type }) => type === "restarted")).toMatchObject({ who: "cy" });
  });

  it.each<BulkAction>([
    { action: "cancel", by },
    { action: "signal", name: "news", by },
  ])("is in the events of many: $action", async (action) => {
    const { runtime } = bench();
    const run = await runtime.start("talk");
    await run.settled();
    for await (const { outcome } of runtime.bulk(action)) expect(outcome).toBe("done");
    const { items } = await run.events();
    expect(items.some(({ who }) => who === by)).toBe(true);
  });

  it.each([
    ["empty", ""],
    ["a number", 7],
    ["long", "x".repeat(1_001)],
    ["half a character", "\ud800"],
  ])("is refused if it is no name: %s", async (_name, wrong) => {
    const { runtime } = bench();
    const run = await runtime.start("talk");
    await run.settled();
    const before = await last(run);
    const given = { by: wrong as string };
    const refused = { code: "OPTION_INVALID", details: { option: "by" } };
    await expect(run.cancel(given)).rejects.toMatchObject(refused);
    await expect(run.setMetadata({ a: 1 }, given)).rejects.toMatchObject(refused);
    await expect(run.restart(given)).rejects.toMatchObject(refused);
    await expect(runtime.start("talk", given)).rejects.toMatchObject(refused);
    expect(await last(run)).toEqual(before);
  });

  it("tells whether a call has made the execution", async () => {
    const { runtime } = bench();
    const first = await runtime.start("talk", { workflowId: "a" });
    const second = await runtime.start("talk", { workflowId: "a" });
    const [fork, same] = [await first.fork({ workflowId: "b" }), await first.fork({ workflowId: "b" })];
    expect([first, second, await runtime.get("a"), fork, same].map(({ isNew }) => isNew)).toEqual([true, false, false, true, false]);
  });
});
