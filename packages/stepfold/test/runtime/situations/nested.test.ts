import { afterEach, describe, expect, it } from "vitest";
import { waits } from "../../../src/core/explain/waits.ts";
import { workflow } from "../../engine/cancelling.fixture.ts";
import { closeAll } from "../runtime.fixture.ts";
import { Situation } from "./situations.fixture.ts";

afterEach(closeAll);

const sub = (name: string, input?: string) => ({ type: "workflow", data: { workflow: name, ...(input !== undefined && { input }) } });

describe("a workflow inside another one that waits", () => {
  it("wakes the workflow around it when it ends, whichever process has answered it (mastra#24588)", async () => {
    const child = workflow("child", { approve: "ask" });
    const parent = workflow(
      "parent",
      { each: { type: "map", data: { workflow: "child", items: ["one"] } }, after: "noop" },
      ["each>after"],
      {
        workflows: { child },
      },
    );
    const situation = new Situation(parent);
    const run = await situation.start();
    await situation.restart();
    const elsewhere = await situation.elsewhere();
    await elsewhere.resume({ step: "each[0]/approve", payload: { approved: true } });
    await situation.pass(2_000);
    expect(await run.snapshot()).toMatchObject({ status: "completed", activePaths: [] });
    expect(await situation.given()).toMatchObject({ each: [[{ approved: true }]] });
    expect(situation.ran).toEqual(["each", "approve", "approve resumed", "after"]);
  });

  it("goes on where it waited, not at the first step of the outermost one (mastra#5650)", async () => {
    const innermost = workflow("innermost", { hi: "noop", pick: "ask" }, ["hi>pick"]);
    const middle = workflow("middle", { before: "noop", inner: sub("innermost") }, ["before>inner"], { workflows: { innermost } });
    const outer = workflow("outer", { first: "noop", mid: sub("middle"), last: "noop" }, ["first>mid", "mid>last"], {
      workflows: { middle },
    });
    const situation = new Situation(outer);
    await situation.start();
    const run = await situation.restart();
    const [wait] = waits(await run.snapshot());
    expect(wait).toMatchObject({ address: "mid/inner/pick", nodeId: "pick" });
    await situation.answer(run, wait!.address, 3);
    expect(situation.ran).toEqual(["first", "mid", "before", "inner", "hi", "pick", "pick resumed", "last"]);
    expect(await situation.given()).toMatchObject({ mid: [3] });
  });

  it("can be followed by another one, which begins and is not resumed (mastra#6065)", async () => {
    const one = workflow("one", { suspect: { type: "ask", data: "What is the suspect?" } });
    const two = workflow("two", { report: { type: "set", data: "suspect: {{ input }}" } });
    const main = workflow("main", { first: sub("one"), second: sub("two", "{{ nodes.first.last.data }}") }, ["first>second"], {
      workflows: { one, two },
    });
    const situation = new Situation(main);
    await situation.start();
    const run = await situation.restart();
    await situation.answer(run, "first/suspect", "the butler");
    expect(situation.ran).toEqual(["first", "suspect", "suspect resumed", "second", "report"]);
    expect(await run.result()).toBe("suspect: the butler");
  });

  it("has the same name in every process, so that an answer by a stored wait id still finds it (mastra#23182)", async () => {
    const child = workflow("child", { sign: "ask" });
    const situation = new Situation(workflow("parent", { contract: sub("child") }, [], { workflows: { child } }));
    const [stored] = waits(await (await situation.start()).snapshot());
    const run = await situation.restart();
    expect(waits(await run.snapshot())).toEqual([stored]);
    expect(Object.keys((await run.snapshot()).childStates ?? {})).toEqual(["0#1"]);
    expect(await run.resume({ waitId: stored!.id, payload: "signed" })).toEqual({ applied: true });
    await situation.pass();
    expect(await run.result()).toBe("signed");
  });

  it("may hold parallel branches that wait for events, and each goes on from there (langgraphjs#1552)", async () => {
    const scenario = workflow(
      "scenario",
      {
        hello: { type: "signal", data: { name: "hello" } },
        demo: { type: "signal", data: { name: "demo" } },
        pricing: { type: "signal", data: { name: "pricing" } },
        showDemo: "noop",
        showPricing: "noop",
      },
      ["hello>demo", "hello>pricing", "demo>showDemo", "pricing>showPricing"],
    );
    const situation = new Situation(
      workflow("bot", { route: "noop", run: sub("scenario"), end: "noop" }, ["route>run", "run>end"], { workflows: { scenario } }),
    );
    await situation.start();
    for (const name of ["hello", "demo"]) {
      await (await situation.restart()).signal(name, { event: name });
      await situation.pass();
    }
    expect(situation.ran).toEqual(["route", "run", "hello", "hello resumed", "demo", "pricing", "demo resumed", "showDemo"]);
    expect(waits(await situation.snapshot()).map(({ address }) => address)).toEqual(["run/pricing"]);
    await (await situation.restart()).signal("pricing");
    await situation.pass();
    expect(situation.ran.slice(-3)).toEqual(["pricing resumed", "showPricing", "end"]);
  });

  it("runs its steps before the wait once (langgraph#4796)", async () => {
    const inner = workflow("inner", { count: "count", human: "ask", after: "count" }, ["count>human", "human>after"]);
    const counted: string[] = [];
    const situation = new Situation(workflow("outer", { parent: "count", call: sub("inner") }, ["parent>call"], { workflows: { inner } }), {
      count: (_data, { nodeId }) => ({ data: counted.push(nodeId) }),
    });
    await situation.start();
    await situation.answer(await situation.restart(), "call/human", "Sam");
    expect(counted).toEqual(["parent", "count", "after"]);
  });

  it("may wait a second time, and reaches its last step (langgraph#6444)", async () => {
    const inner = workflow("inner", { func: "noop", first: "ask", again: "noop", second: "ask", final: { type: "set", data: "valid" } }, [
      "func>first",
      "first>again",
      "again>second",
      "second>final",
    ]);
    const situation = new Situation(workflow("outer", { call: sub("inner") }, [], { workflows: { inner } }));
    let run = await situation.start();
    for (const step of ["call/first", "call/second"]) {
      run = await situation.restart();
      await situation.answer(run, step);
    }
    expect(situation.ran).toEqual(["call", "func", "first", "first resumed", "again", "second", "second resumed", "final"]);
    expect(await run.result()).toBe("valid");
  });
});
