import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import { sha256 } from "../../core/values/hash/sha256.ts";
import type { Json } from "../../core/values/json.ts";
import type { StepContext } from "../../engine/node/step-context.ts";
import { checkWorkflow } from "../../engine/workflow/prepared-workflow.ts";
import { WorkflowEngine } from "../../engine/workflow-engine.ts";
import { systemEnvironment } from "../../environment/system-environment.ts";
import type { HttpAnswer, HttpData } from "./http-data.ts";
import { type HttpNode, type HttpNodeOptions, httpNode } from "./http-node.ts";
import { http } from "./index.ts";

const local = { allowHosts: ["127.0.0.1"] };
const open: Server[] = [];
let origin = "";

async function serve(listener: RequestListener): Promise<void> {
  const server = createServer(listener);
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const answer = (status: number, headers: Record<string, string | string[]> = {}, body = ""): Promise<void> =>
  serve((_request, response) => response.writeHead(status, headers).end(body));

afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

type Given = { readonly data: HttpAnswer; readonly nextHandle?: string };
const call = (data: Partial<HttpData> = {}, options: HttpNodeOptions = local): Promise<Given> =>
  httpNode(options).executor({ url: `${origin}/x`, ...data }, {
    idempotencyKey: "w/0#1",
    now: () => Date.now(),
    signal: new AbortController().signal,
  } as StepContext) as Promise<Given>;
const failure = (calling: Promise<unknown>): Promise<Error> =>
  calling.then(
    () => expect.fail("it did not fail"),
    (error: Error) => error,
  );

describe("http", () => {
  it.each<[number, string | undefined]>([
    [200, undefined],
    [201, undefined],
    [204, undefined],
    [299, undefined],
    [300, "fail"],
    [304, "fail"],
    [400, "fail"],
    [401, "auth-error"],
    [403, "auth-error"],
    [404, "fail"],
    [418, "fail"],
    [429, "fail"],
    [501, "fail"],
  ])("leaves after a %i by %s", async (status, handle) => {
    await answer(status, { "content-type": "application/json", "x-a": "1" }, status === 204 || status === 304 ? "" : '{"ok":1}');
    const given = await call();
    expect(given.nextHandle).toBe(handle);
    expect(given.data).toMatchObject({ status, headers: { "x-a": "1" }, body: status === 204 || status === 304 ? null : { ok: 1 } });
  });

  it.each([500, 502, 503, 504])("fails the attempt after a %i, so that it is made again", async (status) => {
    await answer(status, {}, "down");
    await expect(call()).rejects.toMatchObject({
      name: "HttpError",
      code: "HTTP_STATUS",
      message: `GET ${origin} answered with status ${status}`,
    });
    await expect(call()).rejects.not.toHaveProperty("~fatal");
  });

  it("lets the workflow say which codes are worth another attempt", async () => {
    await answer(500);
    expect((await call({ retriableCodes: [] })).nextHandle).toBe("fail");
    await answer(401);
    await expect(call({ retriableCodes: [401] })).rejects.toMatchObject({ code: "HTTP_STATUS" });
    await answer(202);
    await expect(call({ retriableCodes: [202] })).rejects.toMatchObject({ code: "HTTP_STATUS" });
  });

  it.each<[number, string, number]>([
    [429, "7", 7_000],
    [503, "0", 0],
    [503, "9999999", 86_400_000],
  ])("after a %i comes back when Retry-After: %s says", async (status, after, delayMs) => {
    await answer(status, { "retry-after": after });
    await expect(call({ retriableCodes: [429, 503] })).rejects.toMatchObject({ code: "HTTP_STATUS", "~retryAfter": delayMs });
  });

  it("goes by the policy where Retry-After is nonsense", async () => {
    await answer(503, { "retry-after": "soon" });
    await expect(call()).rejects.not.toHaveProperty("~retryAfter");
  });

  it("sends what it is told, and nothing besides", async () => {
    let seen: { method?: string | undefined; url?: string | undefined; headers: IncomingMessage["headers"]; body: string } | null = null;
    await serve(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      seen = { method: request.method, url: request.url, headers: request.headers, body };
      response.end();
    });
    await call({
      method: "PUT",
      url: `${origin}/a?b=1`,
      query: { c: ["2", 3] },
      headers: { "X-Trace": "t" },
      body: { json: { ü: 1 } },
      timeout: "5s",
    });
    expect(seen).toEqual({
      method: "PUT",
      url: "/a?b=1&c=2&c=3",
      body: '{"ü":1}',
      headers: {
        accept: "*/*",
        "accept-encoding": "gzip, br",
        connection: "close",
        "content-length": "8",
        "content-type": "application/json",
        host: origin.slice("http://".length),
        "idempotency-key": sha256("w/0#1"),
        "user-agent": "stepfold",
        "x-trace": "t",
      },
    });
  });

  it.each(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const)("can %s", async (method) => {
    await serve((request, response) => response.setHeader("x-method", request.method!).end(method === "HEAD" ? "" : "ok"));
    expect((await call({ method, response: "text" })).data).toMatchObject({
      headers: { "x-method": method },
      body: method === "HEAD" ? "" : "ok",
    });
  });

  it("keeps headers under lower-case names, joins repeated ones, and drops cookies", async () => {
    await serve((_request, response) => {
      const raw = ["X-A", "1", "x-a", "2", "Set-Cookie", "sid=s3cret", "Set-Cookie2", "a=s3cret", "__proto__", "x", "constructor", "c"];
      response.writeHead(200, raw as never).end();
    });
    const { headers } = (await call()).data;
    expect(headers).toMatchObject({ "x-a": "1, 2", constructor: "c" });
    expect(JSON.stringify(headers)).not.toMatch(/s3cret|__proto__|cookie/);
  });

  it("calls nothing that is not public, unless it is allowed by name", async () => {
    let calls = 0;
    await serve((_request, response) => {
      calls++;
      response.end();
    });
    const { port } = new URL(origin);
    for (const host of ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "0.0.0.0"])
      await expect(call({ url: `http://${host}:${port}/` }, {})).rejects.toMatchObject({ code: "HTTP_ADDRESS_REFUSED", "~fatal": true });
    expect(calls).toBe(0);
    expect((await call({ url: `http://localhost:${port}/` }, { allowHosts: [`localhost:${port}`] })).data.status).toBe(200);
    expect(calls).toBe(1);
  });

  it("keeps secrets out of errors and output", async () => {
    await answer(404, { "content-type": "text/plain" }, "nothing here");
    const data = {
      url: `${origin}/T0K3N?key=s3cret`,
      headers: { authorization: "Bearer s3cret" },
      body: { text: "s3cret" },
      method: "POST" as const,
    };
    expect(JSON.stringify(await call(data))).not.toMatch(/s3cret|T0K3N/);
    const thrown: Error[] = [];
    for (const more of [{ retriableCodes: [404] }, { maxBytes: 1 }, { timeout: "25 hours" }])
      thrown.push(await failure(call({ ...data, ...more })));
    await new Promise((resolve) => open.splice(0)[0]!.close(resolve));
    thrown.push(await failure(call(data)));
    expect(thrown.map(({ message }) => message).join("\n")).not.toMatch(/s3cret|T0K3N/);
    expect(thrown.map((error) => (error as { code?: string }).code)).toEqual([
      "HTTP_STATUS",
      "HTTP_TOO_LARGE",
      "HTTP_REQUEST_INVALID",
      "HTTP_NETWORK",
    ]);
  });

  it.each([
    [{ maxBytes: 0 }],
    [{ maxBytes: 1.5 }],
    [{ defaultTimeoutMs: -1 }],
    [{ defaultTimeoutMs: Number.POSITIVE_INFINITY }],
    [{ allowHosts: ["*"] }],
  ])("refuses the options %j", (options) => {
    expect(() => httpNode(options)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  it.each<[Json, string]>([
    [{}, "url"],
    [{ url: 7 }, "/url"],
    [{ url: "https://a.example", mehtod: "GET" }, "/mehtod"],
    [{ url: "https://a.example", method: "get" }, "/method"],
    [{ url: "https://a.example", method: "TRACE" }, "/method"],
    [{ url: "https://a.example", headers: { a: { b: 1 } } }, "/headers/a"],
    [{ url: "https://a.example", headers: ["a"] }, "/headers"],
    [{ url: "https://a.example", query: { a: [{}] } }, "/query/a"],
    [{ url: "https://a.example", body: "text" }, "/body"],
    [{ url: "https://a.example", body: {} }, "/body"],
    [{ url: "https://a.example", body: { json: 1, text: "1" } }, "/body"],
    [{ url: "https://a.example", body: { xml: "1" } }, "/body/xml"],
    [{ url: "https://a.example", maxBytes: 1_048_577 }, "/maxBytes"],
    [{ url: "https://a.example", maxBytes: 0 }, "/maxBytes"],
    [{ url: "https://a.example", retriableCodes: [99] }, "/retriableCodes/0"],
    [{ url: "https://a.example", retriableCodes: 500 }, "/retriableCodes"],
    [{ url: "https://a.example", response: "xml" }, "/response"],
    [{ url: "https://a.example", followRedirects: 6 }, "/followRedirects"],
    [{ url: "https://a.example", idempotencyKey: "mine" }, "/idempotencyKey"],
    [null, "/data"],
  ])("refuses the data %j before anything runs, and says where", (data, where) => {
    const issues = checkWorkflow({ id: "w", nodes: [{ id: "a", type: "http", data }], edges: [] }, { http });
    expect(issues.map(({ pointer, message }) => `${pointer}: ${message}`).join("\n")).toContain(where);
  });
});

describe("http in a workflow", () => {
  const retryPolicy = { maxAttempts: 3, interval: 1_000, backoff: "fixed" };
  const edges = ["auth-error", "fail", "error"].map((handle) => ({ source: "call", target: handle, sourceHandle: handle }));
  const ends = edges.map(({ target: id }) => ({ id, type: "http", data: { url: "{{ input.url }}" } }));
  let now = 0;

  function engineOf(node: object, options: HttpNodeOptions = local): WorkflowEngine<{ readonly http: HttpNode }> {
    const workflow = {
      id: "w",
      nodes: [{ id: "call", type: "http", data: { url: "{{ input.url }}", method: "POST" }, retryPolicy, ...node }],
      edges: [],
    };
    return new WorkflowEngine({
      workflow,
      nodeDefinitions: { http: httpNode(options) },
      environment: { ...systemEnvironment, now: () => now },
    });
  }

  it("is made again after a failure, when the service says, under the same idempotency key", async () => {
    const keys: unknown[] = [];
    await serve((request, response) => {
      keys.push(request.headers["idempotency-key"]);
      response.writeHead(keys.length === 1 ? 503 : 200, { "retry-after": "30" }).end();
    });
    const engine = engineOf({});
    let snapshot: Snapshot = await engine.execute({ workflowId: "order-7", input: { url: origin } });
    expect(snapshot).toMatchObject({ status: "error", retryState: { attempts: 1, nextRetryAt: 30_000 } });
    now = 30_000;
    snapshot = await engine.execute({ snapshot });
    expect(snapshot).toMatchObject({ status: "completed", output: { status: 200 } });
    expect(keys).toEqual([sha256("order-7/0#1"), sha256("order-7/0#1")]);
  });

  it("gives up at once where another attempt could not help", async () => {
    const snapshot = await engineOf({}, {}).execute({ input: { url: "http://127.0.0.1:1/" } });
    expect(snapshot).toMatchObject({ status: "failed", error: { name: "HttpError", code: "HTTP_ADDRESS_REFUSED" } });
  });

  it("keeps the code of the failure where the attempts are used up", async () => {
    await answer(500);
    const snapshot = await engineOf({ retryPolicy: { ...retryPolicy, maxAttempts: 1 } }).execute({ input: { url: origin } });
    expect(snapshot).toMatchObject({ status: "failed", error: { code: "HTTP_STATUS" } });
  });

  it("is retried by the policy of the type, where whoever runs it gave one", async () => {
    await answer(500);
    const http = httpNode({ ...local, retryPolicy: { maxAttempts: 2, interval: "1 hour", backoff: "fixed" } });
    const workflow = { id: "w", nodes: [{ id: "call", type: "http", data: { url: origin } }], edges: [] };
    const snapshot = await new WorkflowEngine({ workflow, nodeDefinitions: { http } }).execute({});
    expect(snapshot).toMatchObject({ status: "error", retryState: { attempts: 1 } });
  });

  it("goes by the edge auth-error, whose node sees the answer", async () => {
    await answer(403, { "content-type": "application/json" }, '{"why":"role"}');
    const workflow = { id: "w", nodes: [{ id: "call", type: "http", data: { url: "{{ input.url }}" } }, ...ends], edges };
    const snapshot = await new WorkflowEngine({ workflow, nodeDefinitions: { http: httpNode(local) } }).execute({
      initialNodeId: "call",
      input: { url: origin },
    });
    expect(snapshot.context.call?.[0]?.output).toMatchObject({ status: 403, body: { why: "role" } });
    expect(Object.keys(snapshot.context)).toEqual(["call", "auth-error"]);
  });

  it("refuses a url that an expression made something else of", async () => {
    expect(await engineOf({}).execute({ input: { url: { toString: "x" } } })).toMatchObject({
      status: "failed",
      error: { code: "DATA_INVALID" },
    });
    expect(await engineOf({}).execute({ input: {} })).toMatchObject({ status: "failed", error: { code: "DATA_INVALID" } });
  });
});
