import { defineNode, type Event, type Snapshot, type WorkflowDefinition } from "stepfold";
import { idInPath } from "stepfold/client";
import { compile, Replay } from "stepfold/core";
import { expressionLanguage, loadFunctions } from "stepfold/expressions";
import type { Run } from "stepfold/runtime";
import { describe, expect, it } from "vitest";
import { briefEvent } from "../src/views/brief-event.ts";
import { eventsOf, served } from "./served.fixture.ts";

const canary = "canary-4711";
const secret = "sk_live_canary_in_globals_0815";

/** Puts the canary wherever data can be: inputs, outputs, payloads, variables, items, errors, reasons, signals. */
const everywhere = {
  id: "everywhere",
  nodes: [
    { id: "begin", type: "echo", data: { text: "{{ input.text }}" } },
    {
      id: "declined",
      type: "fail",
      data: { message: "card {{ input.text }} was declined" },
      retryPolicy: { maxAttempts: 2, interval: "1ms", backoff: "fixed" },
    },
    { id: "after", type: "echo", data: { text: "{{ input.text }}" } },
    {
      id: "each",
      type: "map",
      data: { workflow: "item", items: "{{ [input.text, input.text, 'fail ' + input.text] }}", toleratedFailures: 1 },
    },
    { id: "two", type: "approval", data: { title: "{{ input.text }}", responders: ["ada", "bob"], quorum: 2, timeout: "1h" } },
    { id: "listen", type: "signal", data: { name: "go" } },
    { id: "decide", type: "fail", incident: true, data: { message: "{{ input.text }}" } },
    { id: "end", type: "end", data: { output: { text: "{{ input.text }}" } } },
  ],
  edges: [
    { source: "begin", target: "declined" },
    { source: "declined", target: "after", sourceHandle: "error" },
    { source: "after", target: "each" },
    { source: "each", target: "two" },
    { source: "two", target: "listen", sourceHandle: "approved" },
    { source: "listen", target: "decide" },
    { source: "decide", target: "end" },
  ],
  workflows: {
    item: {
      id: "item",
      nodes: [{ id: "work", type: "echo", data: { text: "{{ input }}" } }],
      edges: [],
    },
  },
} as unknown as WorkflowDefinition;
const nodeDefinitions = {
  echo: defineNode({
    executor(data) {
      const { text } = data as { text: string };
      if (text.startsWith("fail ")) throw Object.assign(new Error(`cannot print ${text}`), { code: "PRINT_FAILED", details: { text } });
      return { data: { text, nested: [{ text }] } };
    },
  }),
};

async function canaryRun(people: Parameters<typeof served>[0] = {}) {
  const all = await served({ workflows: [everywhere], nodeDefinitions, globals: { key: secret }, ...people });
  const { runtime } = all;
  const run = await runtime.start("everywhere", { workflowId: "a", input: { text: canary }, metadata: { shop: "vienna" } });
  await run.waitFor({ step: "two" }, { timeoutMs: 10_000 });
  await run.resume({ payload: { approved: true, comment: canary }, by: "ada" });
  return { ...all, run };
}

/** Lets the run go on from its signal, over the failure that waits for a decision, to its end. */
async function finish(run: Run): Promise<void> {
  await run.signal("go", { text: canary });
  const { kind, payload } = await run.waitFor({ step: "decide" });
  expect([kind, JSON.stringify(payload)]).toEqual(["incident", expect.stringContaining(canary)]);
  await run.resume({ payload: { action: "skip" } });
  await run.result();
}

describe("values", () => {
  it("reach nobody who has the scope read alone, by any route", async () => {
    const { ask, run, server } = await canaryRun({
      people: [{ name: "ada" }, { name: "looker", scopes: ["read"] }, { name: "clerk", scopes: ["read", "answer"] }],
    });
    await run.waitFor("paused");
    const look = async (as: string): Promise<string> => {
      const paths = server.routes
        .filter(({ method, scope, path }) => method === "GET" && scope === "read" && path !== "/v1/stream")
        .map(({ path }) => path.replace(":id", "a").replace(":part", "1"));
      expect(paths.length).toBeGreaterThan(8);
      const texts = await Promise.all(
        [...paths, "/v1/executions?q=canary", "/v1/executions/a/events?limit=1000"].map(async (path) => (await ask(path, { as })).text),
      );
      return texts.join("\n");
    };
    expect(await look("ada")).toContain(canary);
    expect(await look("looker")).not.toContain(canary);
    expect(await look("looker")).toContain("vienna");
    // a person who may only answer sees the payload of a wait, and no other value
    const clerk = await look("clerk");
    expect(clerk.split(canary).length - 1).toBeGreaterThan(0);
    expect((await ask("/v1/executions/a", { as: "clerk" })).body.waits[0].payload).toMatchObject({ title: canary });
    expect((await ask("/v1/executions/a/events?limit=1000", { as: "clerk" })).text).not.toContain(canary);
    expect((await ask("/v1/executions/a/events?view=full", { as: "looker" })).status).toBe(403);
    await run.resume({ payload: { approved: true }, by: "bob" });
    await finish(run);
    expect(await look("looker")).not.toContain(canary);
    await run.restart().catch(() => undefined);
    expect((await ask("/v1/executions/a", { as: "looker" })).body.output).toEqual({ "~cut": JSON.stringify({ text: canary }).length });
  });

  it("reach nobody in the errors of an execution that failed, was parked or was cancelled", async () => {
    const failing = {
      id: "failing",
      nodes: [{ id: "declined", type: "fail", data: { message: "card {{ input.text }}" } }],
      edges: [],
    } as WorkflowDefinition;
    const lost = { id: "lost", nodes: [{ id: "gone", type: "echo", data: {} }], edges: [] } as WorkflowDefinition;
    const { ask, runtime } = await served({
      workflows: [failing, lost, everywhere],
      nodeDefinitions,
      people: [{ name: "ada" }, { name: "looker", scopes: ["read", "operate", "answer"] }],
    });
    const failed = await runtime.start("failing", { workflowId: "f", input: { text: canary } });
    await failed.waitFor("failed");
    const cancelled = await runtime.start("everywhere", { workflowId: "c", input: { text: canary } });
    await cancelled.waitFor({ step: "two" });
    await cancelled.cancel({ reason: `because of ${canary}` });
    for (const id of ["f", "c"]) {
      for (const path of ["", "/events", "/waits"])
        expect((await ask(`/v1/executions/${id}${path}`, { as: "looker" })).text).not.toContain(canary);
      for (const command of ["cancel", "retry", "answer"])
        expect((await ask(`/v1/executions/${id}/${command}`, { as: "looker", method: "POST", body: {} })).text).not.toContain(canary);
    }
    expect((await ask("/v1/executions", { as: "looker" })).text).not.toContain(canary);
    expect((await ask("/v1/executions", { as: "ada" })).text).toContain(canary);
    expect((await ask("/v1/executions/f", { as: "looker" })).body.error).toEqual({
      name: "Error",
      message: "",
      code: "CARD_DECLINED",
      nodeId: "declined",
    });
  });

  it("of globals reach nobody", async () => {
    const reading = {
      id: "reading",
      nodes: [{ id: "call", type: "echo", data: { text: "{{ 'fail with ' + globals.key }}", other: "{{ input.text }}" } }],
      edges: [],
    } as WorkflowDefinition;
    const { ask, runtime, server } = await canaryRun({ workflows: [everywhere, reading] });
    await (await runtime.start("reading", { workflowId: "r", input: { text: "x" } })).waitFor("failed");
    for (const id of ["a", "r"]) {
      const paths = server.routes
        .filter(({ method, path }) => method === "GET" && path !== "/v1/stream")
        .map(({ path }) => path.replace(":id", id).replace(":part", "1"));
      for (const path of paths) expect((await ask(path)).text, path).not.toContain(secret);
    }
  });
});

describe("brief events", () => {
  it("fold to the same places as the whole events, at every version", async () => {
    const { store, run } = await canaryRun();
    await run.waitFor("paused");
    await run.resume({ payload: { approved: true }, by: "bob" });
    await finish(run);
    const events = await eventsOf(store, "a");
    expect(new Set(events.map(({ type }) => type)).size).toBeGreaterThan(6);
    await loadFunctions();
    const workflow = compile(everywhere, expressionLanguage);
    const [whole, brief] = [new Replay(workflow), new Replay(workflow)];
    for (const event of events) {
      expect(whole.add(event)).toBe(true);
      expect(brief.add(briefEvent(event))).toBe(true);
      expect(placesOf(brief.snapshot()!)).toEqual(placesOf(whole.snapshot()!));
    }
    expect(JSON.stringify(events.map(briefEvent))).not.toContain(canary);
  });

  it("have no payload of a signal that a step sends, or that came, not even its flags", async () => {
    const sending = {
      id: "sending",
      nodes: [
        { id: "tell", type: "sendSignal", data: { to: "b", name: "go", payload: { text: "{{ input.text }}", isUrgent: true } } },
        { id: "end", type: "end", data: {} },
      ],
      edges: [{ source: "tell", target: "end" }],
    } as unknown as WorkflowDefinition;
    const hearing = { id: "hearing", nodes: [{ id: "listen", type: "signal", data: { name: "never" } }], edges: [] } as WorkflowDefinition;
    const { ask, runtime } = await served({
      workflows: [sending, hearing],
      people: [{ name: "ada" }, { name: "looker", scopes: ["read"] }],
      runtimeOptions: { may: () => true },
    });
    await (await runtime.start("hearing", { workflowId: "b" })).waitFor("paused");
    await (await runtime.start("sending", { workflowId: "a", input: { text: canary } })).result();
    for (const id of ["a", "b"]) {
      expect((await ask(`/v1/executions/${id}/events`)).text).toContain(canary);
      const { text } = await ask(`/v1/executions/${id}/events`, { as: "looker" });
      expect(text).not.toContain(canary);
      expect(text).not.toContain("isUrgent");
      expect(text).toContain('"go"');
    }
  });

  it("cut a member that is not known, and keep the number of items", () => {
    const event = { version: 1, at: 2, type: "itemAdded", pathId: "0", item: canary, invented: canary } as unknown as Event;
    expect(briefEvent(event)).toEqual({
      version: 1,
      at: 2,
      type: "itemAdded",
      pathId: "0",
      item: { "~cut": 13 },
      invented: { "~cut": 13 },
    });
    const spawned = {
      version: 1,
      at: 2,
      type: "spawned",
      children: { workflow: "w", map: { items: [1, 2, 3], concurrency: 2 } },
    } as unknown as Event;
    expect(briefEvent(spawned)).toMatchObject({
      children: { workflow: "w", map: { items: [{ "~cut": 1 }, { "~cut": 1 }, { "~cut": 1 }], concurrency: 2 } },
    });
    const answered = {
      version: 1,
      at: 2,
      type: "resumed",
      payload: { approved: true, isLate: false, comment: canary },
    } as unknown as Event;
    expect(briefEvent(answered)).toEqual({
      ...{ version: 1, at: 2, type: "resumed" },
      payload: { approved: true, "~cut": JSON.stringify({ approved: true, isLate: false, comment: canary }).length },
    });
  });

  it("of a fork have the state that it took over, without its values", async () => {
    const { store, run, ask } = await canaryRun({ people: [{ name: "ada" }, { name: "looker", scopes: ["read"] }] });
    const fork = await run.fork({ workflowId: "b/fork" });
    await fork.waitFor("paused");
    const [started] = await eventsOf(store, "b/fork");
    expect(started).toMatchObject({ type: "started", checkpoint: { state: { activePaths: [{ nodeId: "two" }] } } });
    const brief = briefEvent(started!);
    expect(JSON.stringify(brief)).not.toContain(canary);
    expect(brief).toMatchObject({
      checkpoint: { state: { activePaths: [{ nodeId: "two", waits: [{ kind: "external", responders: ["ada", "bob"] }] }] } },
    });
    expect((await ask(`/v1/executions/${idInPath("b/fork")}/events`, { as: "looker" })).text).not.toContain(canary);
  });
});

/** Where an execution stands, without what it holds. */
function placesOf(snapshot: Snapshot): unknown {
  const scope = ({ status, activePaths, currentNodeId }: Pick<Snapshot, "status" | "activePaths" | "currentNodeId">) => ({
    ...{ status, currentNodeId },
    paths: activePaths.map(({ id, nodeId, status: state, visit, waits = [], children }) => ({
      ...{ id, nodeId, state, visit },
      waits: waits.map(({ id: waitId, kind, answers = [] }) => [waitId, kind, answers.length]),
      children,
    })),
  });
  const results = Object.entries(snapshot.context).map(([node, list]) => [
    node,
    list.map(({ version, pathId, error }) => [version, pathId, error !== undefined]),
  ]);
  const { version, steps, childStates = {} } = snapshot;
  return { ...scope(snapshot), version, steps, results, children: Object.entries(childStates).map(([key, child]) => [key, scope(child)]) };
}
