import { describe, expect, it } from "vitest";
import { explain } from "../../../src/core/explain/explain.ts";
import { waits } from "../../../src/core/explain/waits.ts";
import { eventSentences } from "../../../src/core/history/event-sentence.ts";
import { trail } from "../../../src/core/history/trail.ts";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { defineDurable } from "../../../src/durable/define-durable.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { engineOf, hour, inTime, told } from "../explain.fixture.ts";

const two = defineDurable({
  id: "order",
  waits: { approve: {} },
  async run({ step }) {
    await Promise.all([step.waitFor("approve"), step.sleep("pause", "1h")]);
  },
});
const item = defineDurable({
  id: "item",
  waits: { ok: {} },
  async run({ step }) {
    await step.waitFor("ok");
  },
});

/** Returns the sentences about the events of an execution until it waits or ends, each with its place. */
async function sentences(durable: Parameters<typeof engineOf>[0]): Promise<string[]> {
  const places = trail();
  const lines: string[] = [];
  for await (const { event } of engineOf(durable).stream({}))
    for (const { place, parts } of eventSentences(event, places, null))
      lines.push([place, ...parts.filter(({ kind }) => kind !== "took").map(({ text }) => text)].join(" "));
  return lines;
}

describe("an explanation of code", () => {
  it.each([true, false])("tells the steps that are open, and not the code around them; its workflow is known: %s", async (isKnown) => {
    const engine = engineOf(two);
    const snapshot = await engine.execute({});
    const workflow = isKnown ? engine.workflow : undefined;
    expect(told(snapshot, workflow)).toEqual({
      whole: "2 places are open: 1 waits for an answer, 1 waits for a time.",
      places: ["approve: waits for an answer", `pause: waits until ${inTime(hour)}, and then goes on`],
      next: `At ${inTime(hour)} pause goes on by itself.`,
    });
    expect(explain(snapshot, workflow).more).toBe(0);
    expect(snapshot.currentNodeId).toBe("approve");
    expect(waits(snapshot).map(({ address }) => address)).toEqual(["approve", "pause"]);
  });

  it("says that the code runs while it does, and that it comes next beside steps that wait", async () => {
    const engine = engineOf(two);
    const paused = await engine.execute({});
    const answered = await engine.send(paused, { type: "resume", target: "approve", payload: true });
    expect(told(answered, engine.workflow)).toEqual({
      whole: `pause waits until ${inTime(hour)}, and then goes on.`,
      places: [`pause: waits until ${inTime(hour)}, and then goes on`],
      next: "order is ready to run its code.",
    });
    const alone = engineOf(item);
    const ready = await alone.send(await alone.execute({}), { type: "resume", target: "ok", payload: true });
    const next = "item is ready to run its code.";
    expect(told(ready, alone.workflow)).toEqual({ whole: next, places: ["item: is ready to run its code"], next });
    expect(explain(ready, alone.workflow, { worker: "one" }).sentence).toBe("item is running its code.");
    expect(explain(ready).sentence).toBe("item is ready to run.");
  });

  it("says of code in an item or in a sub-workflow what its steps wait for", async () => {
    const many = defineDurable({ id: "order", workflows: [item.definition], run: ({ step }) => step.map("many", [1, 2], "item") });
    const one = {
      ...{ id: "w", nodes: [{ id: "bill", type: "workflow", data: { workflow: "item" } }], edges: [] },
      workflows: { item: item.definition },
    };
    const inMap = engineOf(many, item.nodes);
    expect(told(await inMap.execute({}), inMap.workflow)).toMatchObject({
      whole: "2 places wait for an answer.",
      places: ["many: has 0 of 2 items done, 2 wait for an answer", "many[0]/ok: waits for an answer", "many[1]/ok: waits for an answer"],
    });
    const inNode = engineOf(one, item.nodes);
    const snapshot = await inNode.execute({});
    expect(told(snapshot, inNode.workflow)).toMatchObject({
      whole: "bill/ok waits for an answer.",
      places: ['bill: runs the workflow "item"', "bill/ok: waits for an answer"],
    });
    expect(Object.values(snapshot.childStates!)[0]!.currentNodeId).toBe("ok");
  });

  it("says that the code gets the error of a step that nobody answers in time", async () => {
    const engine = engineOf(
      defineDurable({
        id: "order",
        async run({ step }) {
          await step.node("ask", "approval", { timeout: "1h" });
        },
      }),
      builtinNodes,
    );
    expect(told(await engine.execute({}), engine.workflow)).toMatchObject({
      whole: `ask waits for an answer, until ${inTime(hour)}, and then its code gets the error.`,
      next: `At ${inTime(hour)} ask times out, and its code gets the error.`,
    });
  });

  it("says that code waits for its steps where a snapshot has none of them", () => {
    const path = { id: "0", nodeId: "order", status: "suspended", turn: 1, visit: 1, attempts: 0, since: 0, stepPath: [] };
    const snapshot = { status: "paused", definition: { id: "order", hash: "h" }, activePaths: [path], context: {} };
    expect(explain(snapshot as unknown as Snapshot).sentence).toBe("order waits for its steps.");
  });
});

describe("the sentences about events of code", () => {
  it("say when it rests, and who gets the error of a step", async () => {
    const code = defineDurable({
      id: "order",
      waits: { approve: {} },
      async run({ step }) {
        const failed = await step.run("pay", () => Promise.reject(new Error("no money"))).catch(() => true);
        await step.waitFor("approve");
        return failed;
      },
    });
    expect(await sentences(code)).toEqual([
      "pay attempt 1 no money its code gets the error",
      "approve waits for an answer",
      "order rests until one of its steps goes on",
    ]);
  });

  it("name the handle where a node of a graph fails, in a path and in its forks", async () => {
    const edges = [
      { source: "a", target: "b" },
      { source: "a", target: "c" },
      { source: "b", target: "d", sourceHandle: "error" },
      { source: "c", target: "d", sourceHandle: "error" },
    ];
    const nodes = [..."abcd"].map((id) => ({ id, type: id === "b" || id === "c" ? "fail" : "noop", data: { message: "no" } }));
    expect(await sentences({ id: "w", nodes, edges })).toEqual(["a", "b attempt 1 no error", "c attempt 1 no error", "d", "d"]);
  });

  it("tell a cancelled step once, and not its result too", () => {
    const result = { output: {}, error: "no more", timestamp: 1, attempt: 1, pathId: "0.1", version: 4 };
    const consequences = {
      results: [{ nodeId: "approve", result }],
      ended: [{ pathId: "0.1", nodeId: "approve", reason: "cancelled" as const }],
    };
    const event = { type: "cancelled", version: 4, at: 1, pathIds: ["0.1"], reason: "no more", consequences } as const;
    const told = eventSentences(event, trail(), null);
    expect(told.map(({ place, sign }) => `${sign} ${place}`)).toEqual(["cancelled approve"]);
  });
});
