import { afterEach, describe, expect, it } from "vitest";
import type { ActionPolicy, ActionRequest } from "../../../src/engine/attempt/may.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { flow } from "../../nodes/workflow.fixture.ts";
import { closeAll, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const inner = flow("inner", { done: "noop" });
const outer = flow(
  "outer",
  { call: ["workflow", { workflow: "inner", detached: true, workflowId: "c" }], seen: ["set", "{{ $json.code }}"] },
  ["call>seen@error"],
);

async function run(may: unknown, tenant?: string) {
  const { runtime, environment, store } = setUp({ nodeDefinitions: builtinNodes, workflows: [outer, inner], may: may as ActionPolicy });
  const execution = await runtime.start("outer", { workflowId: "p", tenant });
  await environment.settle();
  return { snapshot: await execution.snapshot(), store, runtime, environment };
}

describe("the host's verdict", () => {
  it("is asked for before another execution is started, once, and recorded", async () => {
    const asked: ActionRequest[] = [];
    const { snapshot, store } = await run((request: ActionRequest) => asked.push(request) > 0, "acme");
    expect(snapshot.status).toBe("completed");
    expect(asked).toEqual([
      {
        action: "start",
        from: { workflowId: "p", definition: snapshot.definition, nodeId: "call", unnamed: false },
        workflow: "inner",
        id: "c",
        tenant: "acme",
      },
    ]);
    const events = (await store.events("p", -1, 10)).map(({ event }) => event);
    expect(events[1]).toMatchObject({ type: "suspended", starts: { workflowId: "c", allowed: true } });
    expect((await run(async () => true)).snapshot.status).toBe("completed");
  });

  it("refuses if it is anything but true", async () => {
    const broken = () => {
      throw new Error("no database");
    };
    for (const may of [() => false, async () => false, () => 1, () => undefined, async () => "yes", broken, async () => broken()]) {
      const { snapshot, store } = await run(may);
      expect(snapshot).toMatchObject({ status: "completed", output: "ACTION_DENIED" });
      expect(await store.load("c")).toBeNull();
    }
  });

  it("has to be a function", () => {
    expect(() => setUp({ may: true as never })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  it("is told of definitions that have no name here", async () => {
    const { runtime, environment } = await run(({ from }: ActionRequest) => !from.unnamed);
    const own = await runtime.start(outer as never, { workflowId: "q" });
    await environment.settle();
    expect(await own.snapshot()).toMatchObject({ unnamed: true, output: "ACTION_DENIED" });
  });
});

describe("F16 i: globals of a workflow", () => {
  const globals = { stripe: "sk_live_1", mail: "m@x", apiToken: "tok_verysecret" } as never;
  const reading = (id: string, text: string) => flow(id, { read: ["set", text] });
  const show = { ...builtinNodes, show: defineNode({ executor: (_data, step) => ({ data: Object.keys(step.globals as object) }) }) };
  const bench = (workflows: readonly object[], globalsFor?: object) =>
    setUp({ nodeDefinitions: show, workflows, globals, globalsFor: globalsFor as never });

  it("are those that the host names; others are refused where the workflow is registered", async () => {
    const billing = reading("billing", "{{ globals.stripe }}");
    const { runtime, environment } = bench([billing, flow("keys", { show: "show" }), reading("other", "{{ globals.mail }}")], {
      billing: ["stripe"],
      keys: ["mail"],
    });
    const outputs = await Promise.all(["billing", "keys", "other"].map((id) => runtime.start(id)));
    await environment.settle();
    expect(await Promise.all(outputs.map(async (one) => (await one.snapshot()).output))).toEqual(["sk_live_1", ["mail"], "m@x"]);
    expect(() => bench([billing], { billing: ["mail"] })).toThrow(
      expect.objectContaining({ code: "DEFINITION_INVALID", message: expect.stringContaining("reads globals.stripe") }),
    );
    expect(() => bench([reading("other", "{{ globals.mail }}")], { "*": [] })).toThrow("It may read: none");
    const embedding = flow("top", { sub: ["workflow", { workflow: "billing" }] }, [], { workflows: { billing } });
    expect(() => bench([embedding], { top: [] })).toThrow("reads globals.stripe");
  });

  it("are none for a definition that was handed to start, whatever it is called", async () => {
    const { runtime, environment } = bench([reading("billing", "{{ globals.stripe }}")], { billing: ["stripe"] });
    await expect(runtime.start(reading("billing", "x {{ globals.stripe }}") as never)).rejects.toMatchObject({
      code: "DEFINITION_INVALID",
    });
    for (const text of ["{{ globals[input] }}", "{{ Object.keys(globals) }}"]) {
      const run = await runtime.start(reading("billing", text) as never, { input: "stripe" });
      await environment.settle();
      expect(JSON.stringify(await run.snapshot())).not.toContain("sk_live");
    }
    const copy = await runtime.start(reading("billing", "{{ globals.stripe }}") as never).catch(({ code }) => code);
    expect(copy).toBe("DEFINITION_INVALID");
  });

  it("are all where nothing is said, and lists have to be lists", async () => {
    const { runtime, environment } = bench([]);
    const run = await runtime.start(reading("a", "{{ globals.mail }}") as never);
    await environment.settle();
    expect((await run.snapshot()).output).toBe("m@x");
    for (const wrong of [[], "x", { billing: "stripe" }, { billing: [7] }, null])
      if (!(Array.isArray(wrong) && wrong.length === 0))
        expect(() => bench([], wrong as object)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});
