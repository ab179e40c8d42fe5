import { afterEach, describe, expect, it } from "vitest";
import type { WorkflowDefinition } from "../../src/core/definition/definition.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { closeAll, setUp } from "./runtime.fixture.ts";

afterEach(closeAll);

const giving = (id: string, data: string): WorkflowDefinition => ({ id, nodes: [{ id: "say", type: "set", data }], edges: [] });
const parent: WorkflowDefinition = {
  id: "parent",
  nodes: [{ id: "run", type: "workflow", data: { workflow: "billing", detached: true } }],
  edges: [],
};

const open = (more: Parameters<typeof setUp>[0] = {}) =>
  setUp({ nodeDefinitions: builtinNodes as never, workflows: [giving("billing", "the host's"), parent], ...more });

describe("F7, AUDIT 11: a definition that is handed to start", () => {
  it("runs, and takes the name of no workflow of the host", async () => {
    const { runtime, environment } = open();
    const draft = await runtime.start(giving("billing", "a tenant saw {{ input.card }}"), { input: { card: 4711 } });
    expect(await draft.result()).toBe("a tenant saw 4711");
    expect(await (await runtime.start("billing", { input: { card: 4711 } })).result()).toBe("the host's");
    const run = await runtime.start("parent");
    await environment.advance(5_000);
    expect(await run.result()).toBe("the host's");
  });

  it("is another one under an id that was started with a definition of the same id", async () => {
    const { runtime } = open();
    const first = await runtime.start(giving("w", "one"), { workflowId: "x" });
    expect(await (await runtime.start(giving("w", "one"), { workflowId: "x" })).result()).toBe(await first.result());
    await expect(runtime.start(giving("w", "two"), { workflowId: "x" })).rejects.toMatchObject({
      code: "START_CONFLICT",
      details: { differs: "definition" },
    });
  });

  it("is not kept for ever: it is read again where it is needed", async () => {
    const { runtime, store } = open();
    const reads: string[] = [];
    const { getDefinition } = store;
    store.getDefinition = (hash) => {
      reads.push(hash);
      return getDefinition.call(store, hash);
    };
    const large = (n: number): WorkflowDefinition => ({
      id: `w${n}`,
      nodes: Array.from({ length: 500 }, (_, i) => ({ id: `n${i}`, type: "approval" })),
      edges: [],
      start: "n0",
    });
    const first = await runtime.start(large(0));
    for (let n = 1; n <= 45; n++) await runtime.start(large(n), { input: n });
    expect(reads).toEqual([]);
    await first.resume({ payload: { approved: true } });
    expect(reads).toEqual([(await first.snapshot()).definition.hash]);
    expect(await first.result()).toEqual({ approved: true });
  });

  it("counts once among those that are kept, also if several executions need it at the same moment", async () => {
    const { runtime, store } = open();
    const large = (n: number): WorkflowDefinition => ({
      id: `w${n}`,
      nodes: Array.from({ length: 500 }, (_, i) => ({ id: `n${i}`, type: "approval" })),
      edges: [],
      start: "n0",
    });
    const numbers = Array.from({ length: 25 }, (_, n) => n);
    for (const n of numbers) for (const name of ["a", "b", "c"]) await runtime.start(large(n), { workflowId: `${name}${n}` });
    const other = open({ store });
    const reads: string[] = [];
    const { getDefinition } = store;
    store.getDefinition = (hash) => {
      reads.push(hash);
      return getDefinition.call(store, hash);
    };
    const answer = async (id: string) => (await other.runtime.get(id)).resume({ payload: { approved: true } });
    for (const n of numbers) await Promise.all([answer(`a${n}`), answer(`b${n}`)]);
    expect(new Set(reads).size).toBe(numbers.length);
    reads.length = 0;
    // 25 definitions of 500 nodes fit into the 20,000 nodes that are kept
    await answer("c0");
    expect(reads).toEqual([]);
  });
});

describe("USE small: two definitions with one id in workflows", () => {
  it("are refused", () => {
    expect(() => setUp({ nodeDefinitions: builtinNodes as never, workflows: [giving("w", "one"), giving("w", "two")] })).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message: expect.stringContaining('"w"') }),
    );
  });
});

describe("F10: a stored definition that is not the one of its hash", () => {
  it("is not run: the execution is parked, and commands are refused", async () => {
    const { runtime, store, environment } = open();
    const workflow = { id: "w", nodes: [{ id: "ask", type: "approval" }], edges: [] };
    const run = await runtime.start(workflow);
    await environment.settle();
    await runtime.close();
    const evil = { ...workflow, nodes: [{ id: "ask", type: "approval", data: { message: "{{ globals.apiToken }}" } }] };
    store.getDefinition = async () => evil as never;
    const other = setUp({ store, nodeDefinitions: builtinNodes as never, workflows: [] }, environment);
    const same = await other.runtime.get(run.workflowId);
    await expect(same.resume({ payload: { approved: true } })).rejects.toMatchObject({ code: "DEFINITION_CHANGED" });
    await expect(other.runtime.advance(run.workflowId)).rejects.toMatchObject({ code: "DEFINITION_CHANGED" });
  });
});
