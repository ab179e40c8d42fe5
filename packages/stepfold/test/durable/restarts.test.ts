import { afterEach, describe, expect, it } from "vitest";
import { defineDurable } from "../../src/durable/define-durable.ts";
import { defineNode } from "../../src/engine/node/define-node.ts";
import type { AnyTyped } from "../../src/engine/node/typed.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { closeAll, hour, setUp } from "../runtime/runtime.fixture.ts";
import { failing, pass, quiet, started, story } from "./durable.fixture.ts";

afterEach(closeAll);

describe("a restart of durable code that throws the error of a step later", () => {
  /** Begins code whose step fails first and whose error is thrown only after another step, which is undone then. */
  async function begun() {
    const bank = failing();
    const keys: string[] = [];
    const workflow = defineDurable({
      id: "later",
      nodes: { refund: defineNode({ executor: () => ({ data: null }) }) },
      async run({ step }) {
        const call = ({ idempotencyKey }: { idempotencyKey: string }): unknown => keys.push(idempotencyKey) && bank.call();
        const failed = await step.run("bad", call).then(
          () => null,
          (error: unknown) => error,
        );
        await step.run("pay", { undo: { type: "refund" } }, ({ idempotencyKey }) => keys.push(idempotencyKey));
        if (failed) throw failed;
        return "fine";
      },
    });
    const { run, environment } = await started(workflow);
    expect((await run.snapshot()).status).toBe("failed");
    return { run, bank, keys, environment };
  }

  it("performs it again with compensated: again, although it came before what was undone", async () => {
    const { run, bank, keys } = await begun();
    bank.allow();
    await run.restart({ compensated: "again" });
    expect(await run.result()).toBe("fine");
    expect([keys.length, new Set(keys).size]).toEqual([4, 4]);
  });

  it("performs it again after each of several restarts, and what has completed not", async () => {
    const { run, bank, keys, environment } = await begun();
    await run.restart({ compensated: "again" });
    await quiet(environment, run);
    expect([(await run.snapshot()).status, keys.length]).toEqual(["failed", 4]);
    bank.allow();
    await run.restart({ compensated: "keep" });
    expect(await run.result()).toBe("fine");
    expect(keys).toHaveLength(5);
  });

  it("performs it again where only what came later was performed again before", async () => {
    const first = failing("first");
    const second = failing("second");
    const workflow = defineDurable({
      id: "both",
      async run({ step }) {
        const errors: unknown[] = [];
        for (const { name, call } of [
          { name: "one", call: first.call },
          { name: "two", call: second.call },
        ])
          await step.run(name, call).catch((error: unknown) => errors.unshift(error));
        if (errors.length > 0) throw errors[0];
        return "fine";
      },
    });
    const { run, environment } = await started(workflow);
    expect((await run.snapshot()).error?.message).toBe("second");
    second.allow();
    await run.restart();
    await quiet(environment, run);
    expect((await run.snapshot()).error?.message).toBe("first");
    first.allow();
    await run.restart();
    expect([await run.result(), first.calls(), second.calls()]).toEqual(["fine", 2, 2]);
  });
});

describe("a restart of durable code that goes another way then", () => {
  it("ends without what it has once done after the error of the step that is performed again", async () => {
    const bank = failing();
    let saved = 0;
    const workflow = defineDurable({
      id: "other-way",
      async run({ step }) {
        const failed = await step.run("charge", bank.call).catch((error: Error) => error);
        if (!(failed instanceof Error)) return failed;
        await step.run("save", () => ++saved);
        throw failed;
      },
    });
    const { run } = await started(workflow);
    bank.allow();
    await run.restart();
    expect([await run.result(), saved, bank.calls()]).toEqual(["done", 1, 2]);
  });

  it("is parked if it asks for another step in the place of one that it has done", async () => {
    const bank = failing();
    const workflow = defineDurable({
      id: "other-step",
      async run({ step }) {
        const failed = await step.run("charge", bank.call).catch((error: Error) => error);
        await step.run(failed instanceof Error ? "save" : "ship", () => null);
        throw failed;
      },
    });
    const { run, environment } = await started(workflow);
    bank.allow();
    await run.restart();
    await quiet(environment, run);
    expect((await run.snapshot()).parked).toMatchObject({ code: "CODE_CHANGED", message: expect.stringContaining('step 2 was "save"') });
  });
});

describe("a restart of a graph that finishes after a failure", () => {
  it("with compensated: again performs the step again that had failed before what was undone", async () => {
    const bank = failing();
    const graph = {
      id: "graph",
      onFailure: "finish" as const,
      nodes: [
        { id: "s", type: "noop" },
        { id: "bad", type: "bad" },
        { id: "wait", type: "wait", data: { for: 1000 } },
        { id: "pay", type: "noop", compensate: { type: "noop" } },
      ],
      edges: [
        { source: "s", target: "bad" },
        { source: "s", target: "wait" },
        { source: "wait", target: "pay" },
      ],
    };
    const bad = defineNode({ executor: () => ({ data: bank.call() }) });
    const { runtime, environment } = setUp({ workflows: [graph], nodeDefinitions: { ...builtinNodes, bad } as never });
    const run = await runtime.start("graph");
    await pass(environment, run, 1_000);
    expect([(await run.snapshot()).status, (await story(run)).at(-1)]).toEqual(["failed", "completed pay"]);
    bank.allow();
    await run.restart({ compensated: "again" });
    await pass(environment, run, 1_000);
    expect([(await run.snapshot()).status, bank.calls()]).toEqual(["completed", 2]);
  });
});

describe("a restart after several others", () => {
  it("performs a step under a new key that had failed before an undo, and whose error is thrown only now", async () => {
    const first = failing("first");
    const last = failing("last");
    const keys: string[] = [];
    const workflow = defineDurable({
      id: "several",
      nodes: { refund: defineNode({ executor: () => ({ data: null }) }) },
      async run({ step }) {
        const failed = await step
          .run("first", ({ idempotencyKey }) => keys.push(idempotencyKey) && first.call())
          .catch((error: unknown) => error);
        await step.run("pay", { undo: { type: "refund" } }, ({ idempotencyKey }) => keys.push(idempotencyKey));
        await step.run("last", last.call);
        if (failed instanceof Error) throw failed;
        return "fine";
      },
    });
    const { run, environment } = await started(workflow);
    expect((await run.snapshot()).error?.message).toBe("last");
    last.allow();
    await run.restart({ compensated: "again" });
    await quiet(environment, run);
    expect((await run.snapshot()).error?.message).toBe("first");
    first.allow();
    await run.restart({ compensated: "keep" });
    expect(await run.result()).toBe("fine");
    expect([keys.length, new Set(keys).size]).toEqual([4, 4]);
  });

  it("knows what code inside the execution has caught, also if that has ended meanwhile", async () => {
    const caught = failing("caught");
    const thrown = failing("thrown");
    const inner = defineDurable({
      id: "inner",
      waits: { go: true },
      async run({ step, input }) {
        await step.run("try", caught.call).catch(() => null);
        if (input === 2) await step.waitFor("go");
        return "inside";
      },
    });
    const workflow = defineDurable({
      id: "outer",
      workflows: [inner],
      async run({ step }) {
        const waiting = step.call("two", inner, 2);
        await step.call("one", inner, 1);
        await step.run("must", thrown.call);
        return waiting;
      },
    });
    const { run, environment } = await started(workflow);
    await run.restart();
    await quiet(environment, run);
    thrown.allow();
    await run.restart();
    await quiet(environment, run);
    await run.resume({ step: "two/go", payload: null });
    expect([await run.result(), caught.calls(), thrown.calls()]).toEqual(["inside", 2, 3]);
  });
});

describe("a restart of a map of code", () => {
  /** Code with a map whose items are undone by a step that hangs until `open` is called. */
  function undoing(run: Parameters<typeof defineDurable>[0]["run"], item: Parameters<typeof defineDurable>[0]["run"]) {
    const gate = Promise.withResolvers<void>();
    const refund = defineNode({ executor: () => gate.promise.then(() => ({ data: null })) });
    const each = defineDurable({ id: "each", nodes: { refund }, run: item });
    return { workflow: defineDurable({ id: "mapping", workflows: [each], nodes: { refund }, run }), open: () => gate.resolve() };
  }

  /** Starts code that fails after a second, while the undo of an item hangs, and then lets that undo end. */
  async function failedWith(workflow: AnyTyped, open: () => void) {
    const { run, environment } = await started(workflow);
    await pass(environment, run, 1_000);
    open();
    await quiet(environment, run);
    expect((await run.snapshot()).status).toBe("failed");
    return { run, environment };
  }

  it("opens it again although it still waits for items that are being undone", async () => {
    let isRight = false;
    const { workflow, open } = undoing(
      async ({ step }) => {
        try {
          return await step.map("items", [1, 2], "each");
        } catch (error) {
          await step.run("note", () => 1);
          throw error;
        }
      },
      async ({ input, step }) => {
        if (input === 2) await step.run("pay", { undo: { type: "refund" } }, () => "paid");
        await step.sleep("pause", input === 1 ? "1s" : "1h");
        if (input === 1 && !isRight) throw new Error("not right");
        return input;
      },
    );
    const { run, environment } = await failedWith(workflow, open);
    isRight = true;
    await run.restart({ compensated: "keep" });
    await quiet(environment, run);
    expect((await run.snapshot()).activePaths.filter(({ nodeId }) => nodeId === "items")).toHaveLength(1);
    await pass(environment, run, hour);
    expect(await run.result()).toEqual([1, 2]);
  });

  it("opens an item again that has failed and that is being undone", async () => {
    let isRight = false;
    const { workflow, open } = undoing(
      ({ step }) => step.map("items", [1, 2], "each"),
      async ({ input, step }) => {
        if (input === 2) await step.run("pay", { undo: { type: "refund" } }, () => "paid");
        else await step.sleep("pause", "1s");
        if (!isRight) throw new Error("not right");
        return input;
      },
    );
    const { run } = await failedWith(workflow, open);
    isRight = true;
    await run.restart({ compensated: "keep" });
    expect(await run.result()).toEqual([1, 2]);
  });
});
