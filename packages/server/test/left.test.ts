import { defineNode, type SnapshotStore, systemEnvironment, type WorkflowDefinition } from "stepfold";
import type { StreamFrame } from "stepfold/client";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime, type Runtime, type RuntimeOptions } from "stepfold/runtime";
import { describe, expect, it, onTestFinished } from "vitest";
import { createServer } from "../src/index.ts";
import { type Served, type ServedOptions, served } from "./served.fixture.ts";
import { clientOf, isEnd, until } from "./streams.fixture.ts";

const pack = { id: "pack", nodes: [{ id: "pack", type: "robot" }], edges: [] } as WorkflowDefinition;
const reason = /^Since 20\S+Z no living worker can run it: Workflow "pack" cannot run: .*"robot".*\.$/;

/** What a server knows grows old twenty times as fast. */
const hasty = { ...systemEnvironment, monotonicMs: () => 20 * systemEnvironment.monotonicMs() };

/** An execution on a server that runs nothing. */
async function waiting(options: ServedOptions = {}): Promise<Served> {
  const all = await served({ workflows: [pack], runtimeOptions: { drive: false }, environment: hasty, ...options });
  await all.runtime.start("pack", { workflowId: "a" });
  return all;
}

/** A worker that tells what it lacks. It has no code of `pack`, unless it is given. */
function worker(store: SnapshotStore, nodeDefinitions: RuntimeOptions["nodeDefinitions"] = {}): Runtime {
  const lame = { nodeDefinitions: { ...builtinNodes, ...nodeDefinitions }, onProblem: () => undefined };
  const runtime = createRuntime({ store, workflows: [], pollMs: 20, beatMs: 100, ...lame });
  onTestFinished(() => runtime.close({ timeoutMs: 0 }));
  return runtime;
}

const robot = { robot: defineNode({ executor: () => ({ data: "packed" }) }) };

const toldBy = (frame: StreamFrame): string | null | undefined =>
  frame.type === "head" ? (frame.view.explanation.noWorker ?? null) : undefined;

describe("an execution that no living worker can run", () => {
  it("says so, also to those who see no values, until a worker comes that can", async () => {
    const all = await waiting({ people: [{ name: "ada" }, { name: "guest", scopes: ["read"] }] });
    const asked = (): Promise<string | undefined> => all.ask("/v1/executions/a").then(({ body }) => body.explanation.noWorker);
    expect(await asked()).toBeUndefined();
    worker(all.store);
    await expect.poll(asked, { timeout: 10_000 }).toMatch(reason);
    expect((await all.ask("/v1/executions/a", { as: "guest" })).body.explanation.noWorker).toMatch(reason);
    worker(all.store, robot);
    await (await all.runtime.get("a")).result();
    expect(await asked()).toBeUndefined();
  });

  it("is another answer than before, although its version is the same", async () => {
    const all = await waiting();
    const known = (await all.send("/v1/executions/a")).headers.get("etag")!;
    const again = (): Promise<number> => all.send("/v1/executions/a", { headers: { "if-none-match": known } }).then(({ status }) => status);
    expect(await again()).toBe(304);
    worker(all.store);
    await expect.poll(again, { timeout: 10_000 }).toBe(200);
    const left = (await all.send("/v1/executions/a")).headers.get("etag")!;
    expect((await all.send("/v1/executions/a", { headers: { "if-none-match": left } })).status).toBe(304);
  });

  it("is told to those who look at it, when that becomes known and when it is over", async () => {
    const all = await waiting();
    const begun = new Set<string>();
    const begin = (name: string, code: RuntimeOptions["nodeDefinitions"]): void => {
      if (!begun.has(name)) worker(all.store, code);
      begun.add(name);
    };
    const frames = await until(clientOf(all).stream({ executions: ["a"] }), (frame) => {
      if (toldBy(frame) === null) begin("lame", {});
      if (toldBy(frame)) begin("able", robot);
      return isEnd(frame);
    });
    const told = frames.map(toldBy).filter((text) => text !== undefined);
    expect(told[0]).toBeNull();
    expect(told.find((text) => text !== null)).toMatch(reason);
    expect(told.at(-1)).toBeNull();
  });

  it("is told so from the first word on, and asks for the workers once in a while only", async () => {
    const all = await waiting();
    worker(all.store);
    let reads = 0;
    const { workers } = all.runtime;
    const counted: Runtime = {
      ...all.runtime,
      workers() {
        reads++;
        return workers();
      },
    };
    await expect.poll(async () => (await (await all.runtime.get("a")).explain()).noWorker, { timeout: 10_000 }).toMatch(reason);
    const server = createServer({ runtime: counted, store: all.store, auth: "off" });
    onTestFinished(() => server.close());
    const watching = Array.from({ length: 20 }, () =>
      until(clientOf({ ...all, server }).stream({ executions: ["a"] }), (frame) => frame.type === "head"),
    );
    for (const frames of await Promise.all(watching)) expect(toldBy(frames.at(-1)!)).toMatch(reason);
    expect(reads).toBe(1);
  });

  it("is not left as long as somebody holds it who does not tell", async () => {
    const all = await waiting();
    const gate = Promise.withResolvers<void>();
    const slow = { robot: defineNode({ executor: () => gate.promise.then(() => ({ data: null })) }) };
    worker(all.store);
    await expect.poll(async () => (await all.ask("/v1/executions/a")).body.explanation.noWorker, { timeout: 10_000 }).toMatch(reason);
    const silent = createRuntime({ store: all.store, workflows: [], nodeDefinitions: slow, pollMs: 20 });
    onTestFinished(() => silent.close({ timeoutMs: 0 }));
    await expect.poll(async () => (await all.ask("/v1/executions/a")).body.lease?.owner ?? null, { timeout: 10_000 }).not.toBeNull();
    expect((await all.ask("/v1/executions/a")).body.explanation).not.toHaveProperty("noWorker");
    const first = await until(clientOf(all).stream({ executions: ["a"] }), (frame) => frame.type === "head");
    expect(first.at(-1)).toMatchObject({ view: { lease: { owner: expect.any(String) } } });
    expect(toldBy(first.at(-1)!)).toBeNull();
    gate.resolve();
  });
});
