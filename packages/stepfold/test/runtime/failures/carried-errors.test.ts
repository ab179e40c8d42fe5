import { afterEach, describe, expect, it } from "vitest";
import type { WorkflowDefinition } from "../../../src/core/definition/definition.ts";
import type { ErrorInfo } from "../../../src/core/errors/error-info.ts";
import type { NodeDefinition } from "../../../src/engine/node/node-definition.ts";
import { FatalError } from "../../../src/index.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { closeAll, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const minute = 60 * second;

const throwing = (thrown: unknown): NodeDefinition => ({
  executor: () => {
    throw thrown;
  },
});
const fails = (type: string, data?: unknown): WorkflowDefinition => ({
  id: "kid",
  nodes: [{ id: "x", type, ...(data !== undefined && { data: data as never }) }],
  edges: [],
});
const item = (type: string): WorkflowDefinition => ({ id: "item", nodes: [{ id: "x", type }], edges: [] });

/** How an execution can fail, with the error that everybody is told. */
const failures: readonly (readonly [string, WorkflowDefinition, Partial<ErrorInfo>])[] = [
  ["an error without a code", fails("plain"), { name: "Error", message: "boom" }],
  ["an error with a code", fails("coded"), { name: "RangeError", code: "TOO_FAR", message: "too far" }],
  ["a FatalError with details", fails("fatal"), { name: "FatalError", message: "no", details: { left: [1, 2] } }],
  [
    "a node of type fail",
    fails("fail", { message: "no stock", code: "OUT_OF_STOCK", details: { item: "pen" } }),
    { code: "OUT_OF_STOCK", message: "no stock", details: { item: "pen" } },
  ],
  ["a node of type fail without a code", fails("fail", { message: "no stock" }), { message: "no stock" }],
  [
    "a map, whose cause is its first failed item",
    { ...fails("map", { workflow: "item", items: [1, 2] }), workflows: { item: item("fatal") } },
    { code: "MAP_FAILED", cause: { name: "FatalError", message: "no", details: { left: [1, 2] }, nodeId: "x", item: 0 } },
  ],
  ["an output that cannot be made", { ...fails("noop"), output: "{{ input.a.b }}" }, { code: "EXPRESSION_FAILED" }],
  ["a deadline", { ...fails("signal", { name: "never" }), timeout: "1m" }, { code: "EXECUTION_TIMED_OUT" }],
  ["something that is no error", fails("text"), { name: "Error", message: "just text" }],
];

const nodeDefinitions = {
  ...builtinNodes,
  plain: throwing(new Error("boom")),
  coded: throwing(Object.assign(new RangeError("too far"), { code: "TOO_FAR" })),
  fatal: throwing(new FatalError("no", { details: { left: [1, 2] } })),
  text: throwing("just text"),
};

/** Returns what a parent is told of the failure of its child, behind its edge `error`. */
async function toldOf(kid: WorkflowDefinition, detached: boolean): Promise<unknown> {
  const parent: WorkflowDefinition = {
    id: "parent",
    nodes: [
      { id: "c", type: "workflow", data: { workflow: "kid", ...(detached && { detached }) } },
      { id: "told", type: "set", data: "{{ $json }}" },
    ],
    edges: [{ source: "c", target: "told", sourceHandle: "error" }],
    ...(!detached && { workflows: { kid } }),
  };
  const { runtime, environment } = setUp({ workflows: [parent, kid], nodeDefinitions });
  const run = await runtime.start("parent", { workflowId: "p" });
  await environment.advance(5 * minute);
  return await run.result();
}

describe("an error that crosses a boundary", () => {
  it.each(failures)("is told whole to the parent, in this execution or in one of its own: %s", async (_, kid, expected) => {
    const inside = (await toldOf(kid, false)) as object;
    const detached = (await toldOf(kid, true)) as object;
    const { code, details, cause, ...others } = expected;
    for (const told of [inside, detached]) {
      expect(told).toMatchObject({ ...others, nodeId: "c" });
      expect(told).toMatchObject({
        ...(code !== undefined && { code }),
        ...(details !== undefined && { details }),
        ...(cause && { cause }),
      });
      for (const member of ["code", "details", "cause"] as const)
        if (expected[member] === undefined && code === undefined) expect(told).not.toHaveProperty(member);
    }
    // places and times in the message are those of the execution that has failed
    const message = expected.message ?? expect.any(String);
    expect(detached).toEqual({ ...inside, message });
  });

  it.each(failures)("is told whole to whoever asks for the result: %s", async (_, kid, expected) => {
    const { runtime, environment } = setUp({ workflows: [kid], nodeDefinitions });
    const run = await runtime.start("kid");
    await environment.advance(5 * minute);
    const { name: _name, ...told } = expected;
    const thrown = (await run.result().catch((error: unknown) => error)) as {
      readonly code: string;
      readonly details: object;
      readonly cause: object;
    };
    expect(thrown).toMatchObject({ code: "EXECUTION_FAILED", details: told, cause: expected });
  });

  it("says that the other execution was cancelled only if it was", async () => {
    const kid = fails("signal", { name: "never" });
    const parent = {
      id: "parent",
      nodes: [{ id: "c", type: "workflow", data: { workflow: "kid", detached: true, workflowId: "k" } }],
      edges: [],
    };
    const { runtime, environment } = setUp({ workflows: [parent, kid], nodeDefinitions, may: () => true });
    const run = await runtime.start("parent");
    await environment.settle();
    await (await runtime.get("k")).cancel({ reason: "not needed" });
    await environment.advance(minute);
    await expect(run.result()).rejects.toMatchObject({ details: { code: "EXECUTION_CANCELLED", message: "not needed" } });
  });

  it("lets a retry rule tell a failed child from a cancelled one", async () => {
    const kid = fails("plain");
    const retryPolicy = { maxAttempts: 3, interval: "1s", backoff: "fixed", retryIf: "error.code !== 'EXECUTION_CANCELLED'" };
    const parent = {
      id: "parent",
      nodes: [{ id: "c", type: "workflow", data: { workflow: "kid", detached: true }, retryPolicy }],
      edges: [],
    };
    const { runtime, environment } = setUp({ workflows: [parent, kid], nodeDefinitions });
    await runtime.start("parent");
    await environment.advance(minute);
    expect((await runtime.list({ definitionId: "kid" })).items).toHaveLength(3);
  });

  it("keeps no secret of the parent, and no more of a cause than it may", async () => {
    const kid = fails("leaky");
    const parent = { id: "parent", nodes: [{ id: "c", type: "workflow", data: { workflow: "kid", detached: true } }], edges: [] };
    const leaky = throwing(new FatalError("no", { details: { text: "the password is hunter2hunter2" } }));
    const { runtime, environment } = setUp({
      workflows: [parent, kid],
      nodeDefinitions: { ...nodeDefinitions, leaky },
      globals: { password: "hunter2hunter2" },
    });
    const run = await runtime.start("parent");
    await environment.advance(minute);
    expect(JSON.stringify(await run.snapshot())).not.toContain("hunter2");
  });
});
