import { afterEach, describe, expect, it } from "vitest";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { encryptedStore } from "../../../src/stores/wrappers/encrypted/encrypted-store.ts";
import { flow } from "../../nodes/workflow.fixture.ts";
import { closeAll, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const keys: string[] = [];
const nodeDefinitions = {
  ...builtinNodes,
  charge: defineNode({
    executor: (_data, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      return { data: null };
    },
  }),
};
const outer = flow("outer", { call: ["workflow", { workflow: "inner", detached: true }] });
const inner = flow("inner", { charge: "charge" });
const shared = flow("shared", { charge: "charge" }, [], { concurrency: { key: "{{ input }}", limit: 1 } });

function bench(more: object = {}) {
  return setUp({ nodeDefinitions, workflows: [outer, inner, shared], ...more });
}

describe("tenants", () => {
  it("are inherited, and part of ids and keys that are made", async () => {
    const { runtime, environment, store } = bench();
    keys.length = 0;
    for (const tenant of ["acme", undefined]) {
      const run = await runtime.start("outer", { workflowId: `p-${tenant}`, tenant });
      await environment.settle();
      expect(await run.snapshot()).toMatchObject({ status: "completed", ...(tenant && { tenant }) });
    }
    const { items } = await store.list({ tenant: "acme" });
    expect(items.map(({ workflowId }) => workflowId)).toEqual([expect.stringMatching(/^"acme"\/p-acme\/0#1~/), "p-acme"]);
    expect(items.map(({ tenant, metadata }) => [tenant, metadata])).toEqual([
      ["acme", {}],
      ["acme", {}],
    ]);
    expect(keys).toEqual([`${items[0]!.workflowId}/0#1`, expect.stringMatching(/^p-undefined\/0#1~\S+\/0#1$/)]);
    expect((await store.list()).items).toHaveLength(4);
    expect((await store.list({ metadata: { tenant: "acme" } })).items).toEqual([]);
  });

  it("never share a permit, and have their own keys in an encrypted store too", async () => {
    const environment = setUp().environment;
    const inside = memoryStore({ now: () => environment.now() });
    const key = new Uint8Array(32).fill(7);
    for (const store of [inside, encryptedStore(inside, { keys: [{ id: "k", key }], searchKey: new Uint8Array(32).fill(9) })]) {
      const { runtime } = bench({ store, environment, drive: false });
      const keyOf = async (tenant: string | undefined, input: string) =>
        (await (await runtime.start("shared", { input, tenant })).snapshot()).permit!.key;
      const made = [await keyOf("a", "b/c"), await keyOf("a/b", "c"), await keyOf(undefined, '"a"/b/c'), await keyOf("b", "b/c")];
      expect(new Set(made).size).toBe(4);
      expect(await keyOf(undefined, "k")).toBe("k");
      expect(await keyOf("a", "x".repeat(255))).toMatch(/^"[0-9a-f]{64}$/);
    }
    const { tenant, metadata } = (await inside.list({ tenant: "a/b" })).items[0]!;
    expect([tenant, Object.keys(metadata)]).toEqual(["a/b", ["~stepfold/encrypted"]]);
  });

  it("do not take the executions of each other", async () => {
    const { runtime } = bench({ drive: false });
    await runtime.start("inner", { workflowId: "order-7", tenant: "acme" });
    for (const tenant of ["beta", undefined])
      await expect(runtime.start("inner", { workflowId: "order-7", tenant })).rejects.toMatchObject({
        code: "START_CONFLICT",
        details: { differs: "tenant" },
      });
    expect((await runtime.start("inner", { workflowId: "order-7", tenant: "acme" })).workflowId).toBe("order-7");
  });

  it("are named as executions are", async () => {
    const { runtime } = bench({ drive: false });
    for (const tenant of ["", " a", "a\u0000", "x".repeat(256), 7, "__proto__"])
      await expect(runtime.start("inner", { tenant: tenant as string })).rejects.toMatchObject({
        code: "OPTION_INVALID",
        details: { option: "tenant" },
      });
  });

  it("are read from a snapshot that comes from outside", async () => {
    const engine = new WorkflowEngine({ workflow: outer, workflows: [inner], nodeDefinitions });
    const snapshot = await engine.execute({ tenant: "acme", workflowId: "p" });
    expect(snapshot.outbox).toMatchObject([{ to: '"acme"/p/0#1' }]);
    const goesOn = async (tenant: unknown) => engine.execute({ snapshot: { ...snapshot, tenant } });
    expect(await goesOn("beta")).toMatchObject({ tenant: "beta" });
    await expect(goesOn(" ")).rejects.toMatchObject({ code: "SNAPSHOT_INVALID", details: { pointer: "/tenant" } });
  });
});

describe("a snapshot that is adopted", () => {
  const asking = flow("asking", { ask: ["approval", {}] });
  const driven = async (tenant?: string) => {
    const engine = new WorkflowEngine({ workflow: asking, nodeDefinitions });
    return engine.execute({ workflowId: "a", ...(tenant !== undefined && { tenant }) });
  };

  it("gets the tenant that the caller says, and none if neither says one", async () => {
    const { runtime } = bench({ workflows: [asking] });
    for (const [claimed, tenant] of [
      [undefined, undefined],
      [undefined, "acme"],
      ["acme", "acme"],
    ]) {
      const run = await runtime.adopt("asking", await driven(claimed), { workflowId: `${claimed} ${tenant}`, tenant });
      expect((await run.snapshot()).tenant).toBe(tenant);
      expect(await runtime.list({ tenant: "acme", idPrefix: run.workflowId })).toMatchObject({ items: tenant ? [{ tenant }] : [] });
    }
  });

  it.each([
    ["acme", undefined, "OPTION_INVALID", "only you say whose execution it becomes"],
    ["acme", "other", "SNAPSHOT_INVALID", '/tenant is "acme"'],
    ["acme", "Acme", "SNAPSHOT_INVALID", '/tenant is "acme"'],
    ["acme", null, "SNAPSHOT_INVALID", '/tenant is "acme"'],
    [undefined, "", "OPTION_INVALID", "tenant"],
    [undefined, 5, "OPTION_INVALID", "tenant"],
    [" acme", "acme", "SNAPSHOT_INVALID", "/tenant"],
    ["", "acme", "SNAPSHOT_INVALID", "/tenant"],
  ])("is refused where it claims the tenant %j and the caller says %j", async (claimed, tenant, code, message) => {
    const { runtime, store } = bench({ workflows: [asking] });
    const snapshot = { ...(await driven()), ...(claimed !== undefined && { tenant: claimed }) };
    await expect(runtime.adopt("asking", snapshot, { tenant: tenant as string })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
    expect((await store.list()).items).toEqual([]);
  });

  it("never gives a handle of the execution of another tenant that began from the same snapshot", async () => {
    const { runtime } = bench({ workflows: [asking] });
    const snapshot = await driven();
    await runtime.adopt("asking", snapshot, { tenant: "acme" });
    expect((await runtime.adopt("asking", snapshot, { tenant: "acme" })).workflowId).toBe("a");
    for (const tenant of ["other", undefined])
      await expect(runtime.adopt("asking", snapshot, { tenant })).rejects.toMatchObject({
        code: "START_CONFLICT",
        details: { differs: "tenant" },
      });
  });
});
