import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { Node, WorkflowDefinition } from "../../src/core/definition/definition.ts";
import type { Json } from "../../src/core/values/json.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { httpNode } from "../../src/nodes/http/http-node.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { VirtualEnvironment } from "../engine/virtual-environment.fixture.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A server that gives these answers, one after the other, and the last one for ever. */
async function serving(...answers: readonly (readonly [status: number, headers?: Record<string, string>, body?: string])[]): Promise<{
  readonly url: string;
  readonly calls: () => number;
}> {
  let calls = 0;
  const server = createServer((_request, response) => {
    const [status, headers = {}, body = ""] = answers[Math.min(calls++, answers.length - 1)]!;
    response.writeHead(status, headers).end(body);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`, calls: () => calls };
}

const json = { "content-type": "application/json" };
const startedAt = 1_000_000;
const retryPolicy = { maxAttempts: 4, interval: "1s", backoff: "fixed" } as const;

/** Runs a workflow whose first node is a call, until nothing is left to do at once. */
async function run(
  url: string,
  node: Partial<Node> = {},
  more: Partial<WorkflowDefinition> = {},
): Promise<{ snapshot: never; after: (ms: number) => Promise<never> }> {
  const clock = new VirtualEnvironment(startedAt);
  const call: Node = { id: "call", type: "http", ...node, data: { url, ...(node.data as object) } };
  const workflow: WorkflowDefinition = { id: "w", edges: [], ...more, nodes: [call, ...(more.nodes ?? [])] };
  const nodeDefinitions = { ...builtinNodes, http: httpNode({ allowHosts: ["127.0.0.1"] }) };
  const engine = new WorkflowEngine({ workflow, nodeDefinitions, environment: clock });
  let snapshot = await engine.execute({ input: { url } });
  return {
    snapshot: snapshot as never,
    after: async (ms) => {
      await clock.advance(ms);
      snapshot = await engine.execute({ snapshot });
      return snapshot as never;
    },
  };
}

const next = (id: string, sourceHandle?: string): Partial<WorkflowDefinition> => ({
  nodes: [{ id, type: "set", data: { seen: "{{ $json }}" } }],
  edges: [{ source: "call", target: id, ...(sourceHandle !== undefined && { sourceHandle }) }],
});

describe("a call that is answered with a failure", () => {
  it.each([
    [404, "fail"],
    [409, "fail"],
    [429, "fail"],
    [401, "auth-error"],
    [403, "auth-error"],
  ])("never ends silently: %i fails the step if no edge leaves by %s", async (status) => {
    const { url } = await serving([status, { ...json, "x-why": "gone" }, '{"why":"gone"}']);
    const { snapshot } = await run(url, {}, next("ship"));
    expect(snapshot).toMatchObject({
      status: "failed",
      error: {
        name: "HttpError",
        code: "HTTP_STATUS",
        message: `GET ${url.replace("/orders", "")} answered with status ${status}`,
        nodeId: "call",
        details: { status, headers: { "x-why": "gone" }, body: { why: "gone" } },
      },
    });
    expect(snapshot).not.toHaveProperty("context.ship");
  });

  it("leaves by the edge that expects it", async () => {
    const { url } = await serving([404, json, '{"why":"gone"}']);
    const { snapshot } = await run(url, {}, next("missing", "fail"));
    expect(snapshot).toMatchObject({ status: "completed", output: { seen: { status: 404, body: { why: "gone" } } } });
  });

  it("leaves by the edge error if that is the only one", async () => {
    const { url } = await serving([403, json, '{"why":"role"}']);
    const { snapshot } = await run(url, {}, next("failed", "error"));
    expect(snapshot).toMatchObject({
      status: "completed",
      output: { seen: { code: "HTTP_STATUS", details: { status: 403, body: { why: "role" } } } },
    });
  });

  it("is not tried again for that, whatever the policy says", async () => {
    const { url, calls } = await serving([404]);
    const { snapshot } = await run(url, { retryPolicy });
    expect(snapshot).toMatchObject({ status: "failed", error: { code: "HTTP_STATUS" } });
    expect(calls()).toBe(1);
  });

  it("becomes an incident where the node asks for one", async () => {
    const { url } = await serving([404]);
    const { snapshot } = await run(url, { incident: true });
    expect(snapshot).toMatchObject({ status: "paused", activePaths: [{ waits: [{ kind: "incident" }] }] });
  });

  it("counts as a failure of its item in a map", async () => {
    const { url } = await serving([404]);
    const clock = new VirtualEnvironment(startedAt);
    const one = { id: "one", nodes: [{ id: "call", type: "http", data: { url: "{{ input }}" } }], edges: [] };
    const nodes = [{ id: "all", type: "map", data: { workflow: "one", items: [url, url], toleratedFailures: 1 } }];
    const workflow = { id: "w", nodes, edges: [], workflows: { one } };
    const nodeDefinitions = { ...builtinNodes, http: httpNode({ allowHosts: ["127.0.0.1"] }) };
    const snapshot = await new WorkflowEngine({ workflow, nodeDefinitions, environment: clock }).execute({});
    expect(snapshot).toMatchObject({ status: "failed", error: { code: "MAP_FAILED", cause: { code: "HTTP_STATUS" } } });
  });

  it("fails a compensation, which has no edges", async () => {
    const { url } = await serving([200], [409]);
    const compensate = { type: "http", data: { url, method: "DELETE" } } as const;
    const { snapshot } = await run(
      url,
      { compensate },
      { nodes: [{ id: "stop", type: "fail", data: { message: "no" } }], edges: [{ source: "call", target: "stop" }] },
    );
    expect(snapshot).toMatchObject({
      status: "parked",
      parked: { code: "COMPENSATION_FAILED", message: expect.stringContaining("answered with status 409") },
      error: { message: "no", notUndone: ["call"] },
    });
  });

  it("says that its details were too large to keep", async () => {
    const { url } = await serving([404, json, JSON.stringify("x".repeat(40_000))]);
    const { snapshot } = await run(url);
    expect(snapshot).toMatchObject({
      error: { code: "HTTP_STATUS", message: expect.stringContaining("details of more than 32768 bytes") },
    });
  });
});

describe("a service that asks to come back", () => {
  it.each([408, 425, 429])("is asked again after a %i, if the node has a retry policy", async (status) => {
    const { url, calls } = await serving([status], [200]);
    const { snapshot, after } = await run(url, { retryPolicy }, next("failed", "fail"));
    expect(snapshot).toMatchObject({ status: "error", retryState: { attempts: 1 } });
    expect(await after(1_000)).toMatchObject({ status: "completed", output: { status: 200 } });
    expect(calls()).toBe(2);
  });

  it("is believed about the time", async () => {
    const { url } = await serving([429, { "retry-after": "60" }], [200]);
    const { snapshot, after } = await run(url, { retryPolicy });
    expect(snapshot).toMatchObject({ status: "error", retryState: { nextRetryAt: startedAt + 60_000 } });
    expect(await after(60_000)).toMatchObject({ status: "completed" });
  });

  it.each<[object, number]>([
    [{ maxInterval: "30s" }, 30_000],
    [{}, 86_400_000],
  ])("is believed only up to the longest interval of the policy %j, or a day", async (more, ms) => {
    const { url } = await serving([429, { "retry-after": "9999999" }], [200]);
    const { snapshot, after } = await run(url, { retryPolicy: { ...retryPolicy, ...more } });
    expect(snapshot).toMatchObject({ status: "error", retryState: { nextRetryAt: startedAt + ms } });
    expect(await after(ms)).toMatchObject({ status: "completed" });
  });

  it.each<[string, Json, object]>([
    ["500 only", [500], { status: "completed", output: { seen: { status: 429 } } }],
    ["none", [], { status: "completed", output: { seen: { status: 429 } } }],
    ["418", [418], { status: "completed", output: { seen: { status: 429 } } }],
  ])("is not asked again if the data says which codes are: %s", async (_, retriableCodes, expected) => {
    const { url, calls } = await serving([429]);
    const { snapshot } = await run(url, { retryPolicy, data: { retriableCodes } }, next("failed", "fail"));
    expect(snapshot).toMatchObject(expected);
    expect(calls()).toBe(1);
  });

  it("fails with its status when the attempts are used up", async () => {
    const { url } = await serving([429]);
    const { snapshot, after } = await run(url, { retryPolicy: { ...retryPolicy, maxAttempts: 2 } });
    expect(snapshot).toMatchObject({ status: "error" });
    expect(await after(1_000)).toMatchObject({ status: "failed", error: { code: "HTTP_STATUS" } });
  });

  it("is asked once, and leaves by fail, without a policy", async () => {
    const { url, calls } = await serving([429]);
    const { snapshot } = await run(url, {}, next("failed", "fail"));
    expect(snapshot).toMatchObject({ status: "completed", output: { seen: { status: 429 } } });
    expect(calls()).toBe(1);
  });
});

describe("a failure handle of a node type of one's own", () => {
  const pay = {
    failures: ["declined", "fraud"],
    handles: ["", "declined", "fraud"],
    executor: (data: unknown) => data as never,
  };
  const execute = async (data: Json, edges: WorkflowDefinition["edges"] = []): Promise<unknown> => {
    const workflow = {
      id: "w",
      nodes: [
        { id: "n", type: "pay", data },
        { id: "o", type: "set", data: "{{ $json }}" },
      ],
      edges,
      start: "n",
    };
    return await new WorkflowEngine({ workflow, nodeDefinitions: { ...builtinNodes, pay } }).execute({});
  };
  const taken = (sourceHandle: string): WorkflowDefinition["edges"] => [{ source: "n", target: "o", sourceHandle }];

  it("fails the step if no edge leaves by it, with the data as details", async () => {
    expect(await execute({ data: { reason: "limit" }, nextHandle: "declined" })).toMatchObject({
      status: "failed",
      error: { name: "HandleError", code: "HANDLE_FAILED", message: expect.stringContaining('"declined"'), details: { reason: "limit" } },
    });
  });

  it("fails it with the error that the output tells", async () => {
    const failure = { code: "DECLINED", message: "the bank has declined" };
    const output = { data: 1, nextHandle: "declined", failure };
    expect(await execute(output)).toMatchObject({ error: { name: "HandleError", ...failure, details: 1 } });
    expect(await execute(output, taken("declined"))).toMatchObject({ status: "completed", output: 1 });
    expect(await execute(output, taken("error"))).toMatchObject({ status: "completed", output: { ...failure } });
    expect(await execute({ data: 1, failure })).toMatchObject({ status: "completed", output: 1 });
  });

  it("is found among several handles", async () => {
    const output = { data: 1, nextHandles: ["declined", "fraud"] };
    expect(await execute(output, taken("declined"))).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining('"fraud"') },
    });
    expect(await execute(output, [...taken("declined"), ...taken("fraud")])).toMatchObject({ status: "completed" });
  });
});
