import { describe, expect, it } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "../../src/core/values/json.ts";
import type { NodeDefinition } from "../../src/engine/node/node-definition.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { httpNode } from "../../src/nodes/http/http-node.ts";
import { builtinNodes } from "../../src/nodes/index.ts";

const types: Readonly<Record<string, NodeDefinition>> = { ...builtinNodes, http: httpNode() } as never;

/** Every guarded member of the built-in types, with a value that it may have. */
const guarded: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  approval: { responders: ["ada"], quorum: 1, timeout: "2 days", schema: { type: "object" } },
  signal: { name: "paid", key: "order-7", transient: true, timeout: "2 days", schema: { type: "number" } },
  race: { signals: [{ name: "a" }, { name: "b" }], timer: { for: "2 days" }, answer: { schema: { type: "number" } } },
  wait: { for: "2 days", until: "2040-01-01T00:00:00Z" },
  sendSignal: { name: "paid", to: "order-7", all: true, workflow: "order", key: "order-7", ttl: "2 days" },
  workflow: { workflow: "order", detached: true, wait: true, workflowId: "order-7" },
  map: { workflow: "order", concurrency: 1, completeWhen: 1, remaining: "finish", open: true, toleratedFailures: "10%" },
  end: { terminate: true },
  switch: { every: true },
  http: {
    url: "https://example.com/orders",
    method: "DELETE",
    basicAuth: { user: "u", password: "p" },
    timeout: "2s",
    maxBytes: 10,
    retriableCodes: [500],
    response: "text",
    numbers: "double",
    followRedirects: 0,
    idempotencyKey: true,
  },
};

/** Data that a type needs besides the member that is tested. */
const needed: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  signal: { name: "paid" },
  race: { signals: [{ name: "a" }, { name: "b" }] },
  sendSignal: { name: "paid" },
  workflow: { workflow: "order" },
  map: { workflow: "order", items: [1, 2] },
  switch: { cases: [] },
  http: { url: "https://example.com/" },
};

const cases = Object.entries(guarded).flatMap(([type, members]) => Object.entries(members).map(([name, value]) => ({ type, name, value })));

async function execute(type: string, data: Json, more: object = {}): Promise<unknown> {
  const order = { id: "order", nodes: [{ id: "a", type: "noop" }], edges: [] };
  const workflow = { id: "w", nodes: [{ id: "n", type, data, ...more }], edges: [], workflows: { order } };
  return await new WorkflowEngine({ workflow, nodeDefinitions: types }).execute({ input: { other: 1 } });
}

const refused = (pointer: string): unknown =>
  expect.objectContaining({
    status: "failed",
    error: expect.objectContaining({
      code: "DATA_INVALID",
      message: expect.stringContaining(`  ${pointer || "/"}: must not be undefined`),
    }),
  });

describe("a member that limits or guards something is never lost with a missing field", () => {
  it("is listed here for each built-in type", () => {
    const said = Object.entries(types).flatMap(([type, { guards = [] }]) => guards.map((name) => `${type}.${name}`));
    expect(cases.map(({ type, name }) => `${type}.${name}`).sort()).toEqual(said.sort());
  });

  it.each(cases)("$type.$name: an expression that is undefined fails the step", async ({ type, name }) => {
    expect(await execute(type, { ...needed[type], [name]: "{{ input.missing }}" })).toEqual(refused(`/${name}`));
  });

  it.each(cases)("$type.$name: also in an object that one expression makes", async ({ type, name }) => {
    const rest = JSON.stringify(needed[type] ?? {});
    expect(await execute(type, `{{ { ...${rest}, ${name}: input.missing } }}`)).toEqual(refused(`/${name}`));
  });

  it.each(
    cases.filter(({ value }) => typeof value === "string"),
  )("$type.$name: also in text, which would be another one without it", async ({ type, name }) => {
    expect(await execute(type, { ...needed[type], [name]: "order-{{ input.missing }}" })).toEqual(refused(`/${name}`));
  });

  it.each(cases.filter(({ value }) => isJsonObject(value) || Array.isArray(value)))("$type.$name: also in what it holds", async ({
    type,
    name,
    value,
  }) => {
    const inside = Array.isArray(value)
      ? [...(value as Json[]), { key: "{{ input.missing }}" }]
      : { ...(value as JsonObject), more: { limit: "{{ input.missing }}" } };
    expect(await execute(type, { ...needed[type], [name]: inside })).toEqual(refused(`/${name}`));
  });

  it("names every such member at once", async () => {
    const data = { responders: "{{ input.a }}", quorum: "{{ input.b }}", title: "{{ input.c }}" };
    const snapshot = await execute("approval", data);
    for (const pointer of ["/responders", "/quorum"]) expect(snapshot).toEqual(refused(pointer));
    expect(snapshot).not.toEqual(refused("/title"));
  });

  it("is refused too if the whole data is undefined", async () => {
    expect(await execute("approval", "{{ input.settings }}")).toEqual(refused(""));
  });

  it("has the default that its expression gives", async () => {
    const snapshot = await execute("approval", { timeout: '{{ input.within ?? "7 days" }}', responders: "{{ input.who ?? ['ada'] }}" });
    expect(snapshot).toMatchObject({
      status: "paused",
      activePaths: [{ waits: [{ responders: ["ada"], timeoutAt: expect.any(Number) }] }],
    });
  });

  it("may be absent, as before", async () => {
    expect(await execute("approval", { title: "{{ input.missing }}" })).toMatchObject({ status: "paused" });
    expect(await execute("approval", "{{ { title: input.missing } }}")).toMatchObject({ status: "paused" });
  });

  it("is refused, and never taken for a default, if it is null", async () => {
    expect(await execute("approval", { responders: "{{ null }}" })).toMatchObject({ error: { code: "DATA_INVALID" } });
  });
});

describe("a setting of a definition is never lost with a missing field", () => {
  const start = async (settings: object, input: Json = {}): Promise<unknown> => {
    const workflow = { id: "w", nodes: [{ id: "n", type: "noop" }], edges: [], ...settings };
    return await new WorkflowEngine({ workflow, nodeDefinitions: types }).execute({ input });
  };
  const atStart: readonly (readonly [string, object])[] = [
    ["timeout", { timeout: "{{ input.within }}" }],
    ["timeout", { timeout: "{{ input.within }} days" }],
    ["concurrency", { concurrency: { key: "{{ input.customer }}" } }],
    ["concurrency", { concurrency: { key: "customer-{{ input.customer }}" } }],
    ["rateLimit", { rateLimit: { limit: 1, period: "1s", key: "customer-{{ input.customer }}" } }],
  ];

  it.each(atStart)("%s refuses the input: %o", async (name, settings) => {
    await expect(start(settings)).rejects.toMatchObject({ code: "INPUT_INVALID", message: expect.stringContaining(`"${name}"`) });
    await expect(start(settings)).rejects.toMatchObject({ message: expect.stringMatching(/undefined|must be text/) });
    expect(await start(settings, { within: 900, customer: "acme" })).toMatchObject({ status: "completed" });
  });

  const ofNode: readonly (readonly [string, object, string])[] = [
    ["timeout", { timeout: "{{ input.within }}" }, "DATA_INVALID"],
    ["timeout", { timeout: "{{ input.within }} days" }, "DATA_INVALID"],
    ["heartbeatTimeout", { heartbeatTimeout: "{{ input.within }}" }, "DATA_INVALID"],
    ["maxAttempts", { retryPolicy: { maxAttempts: "{{ input.within }}", interval: 1, backoff: "fixed" } }, "RETRY_POLICY_INVALID"],
    ["interval", { retryPolicy: { maxAttempts: 2, interval: "1{{ input.within }}", backoff: "fixed" } }, "RETRY_POLICY_INVALID"],
    [
      "maxInterval",
      { retryPolicy: { maxAttempts: 2, interval: 1, maxInterval: "{{ input.within }}", backoff: "fixed" } },
      "RETRY_POLICY_INVALID",
    ],
  ];

  it.each(ofNode)("%s of a node fails the step: %o", async (name, settings, code) => {
    const fails = {
      executor: () => {
        throw new Error("busy");
      },
    };
    const workflow = { id: "w", nodes: [{ id: "n", type: "fails", ...settings }], edges: [] };
    const snapshot = await new WorkflowEngine({ workflow, nodeDefinitions: { fails } }).execute({ input: {} });
    expect(snapshot).toMatchObject({
      status: "failed",
      error: { message: expect.stringMatching(new RegExp(`"${name}".*must not be undefined`, "s")) },
    });
    if (code === "DATA_INVALID") expect(snapshot).toMatchObject({ error: { code } });
  });

  it("is told for a map whose number of items comes from elsewhere, before any item has run", async () => {
    const items = { items: [1, 2, 3], workflow: "order" };
    expect(await execute("map", { ...items, completeWhen: "{{ input.needed }}" })).toEqual(refused("/completeWhen"));
    expect(await execute("map", { ...items, completeWhen: "input.needed" })).toEqual(refused("/completeWhen"));
    const inner = { id: "order", nodes: [{ id: "a", type: "count" }], edges: [] };
    const nodes = [{ id: "n", type: "map", data: { ...items, completeWhen: "{{ input.needed }}" } }];
    let ran = 0;
    const count = { executor: () => ({ data: ran++ }) };
    const workflow = { id: "w", nodes, edges: [], workflows: { order: inner } };
    expect(await new WorkflowEngine({ workflow, nodeDefinitions: { ...types, count } }).execute({ input: {} })).toEqual(
      refused("/completeWhen"),
    );
    expect(ran).toBe(0);
    // what reads the progress is a condition, and undefined means not yet
    expect(await execute("map", { ...items, completeWhen: "results.find(result => result.good)?.good" })).toMatchObject({
      status: "completed",
    });
  });
});
