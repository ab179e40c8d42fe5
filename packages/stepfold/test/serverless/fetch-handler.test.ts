import { describe, expect, it } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { handle, type ServerlessOptions } from "../../src/serverless/index.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { functionRuntime, secret } from "./serverless.fixture.ts";

interface Asked extends Omit<RequestInit, "headers"> {
  readonly authorization?: string | null;
  readonly duplex?: "half";
}

function fetchOf(options: Partial<ServerlessOptions> = {}, from = functionRuntime()) {
  const { fetch } = handle(from.runtime, { secret, ...options });
  const ask = async (path: string, { authorization = `Bearer ${secret}`, ...init }: Asked = {}) => {
    const headers: Record<string, string> = authorization === null ? {} : { authorization };
    const response = await fetch(new Request(`https://function.test${path}`, { headers, ...init }));
    return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, unknown> };
  };
  return { ...from, ask };
}

const wakeUp = (body: unknown): Asked => ({ method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) });

/** A runtime that must not be called. */
const untouched = { runtime: { sweep: () => Promise.reject(new TypeError("it was asked")) } } as unknown as ReturnType<
  typeof functionRuntime
>;

describe("the fetch handler", () => {
  it.each(["GET", "POST"])("sweeps for a cron service: %s /sweep", async (method) => {
    const { ask, runtime, performed } = fetchOf();
    for (const workflowId of ["a", "b"]) await runtime.start("note", { workflowId });
    const { status, headers, body } = await ask("/sweep", { method });
    expect({ status, body }).toEqual({ status: 200, body: { advanced: 2, left: [], failed: [], isMore: false } });
    expect(headers.get("cache-control")).toBe("no-store");
    expect(performed.sort()).toEqual(["a", "b"]);
  });

  it("wakes the executions that a request names, and no others", async () => {
    const { ask, runtime, performed } = fetchOf({ basePath: "/api/stepfold" });
    for (const workflowId of ["a", "b"]) await runtime.start("note", { workflowId });
    expect(await ask("/api/stepfold/wake-up", wakeUp({ workflowIds: ["b", "gone"] }))).toMatchObject({
      status: 200,
      body: { advanced: 1 },
    });
    expect(performed).toEqual(["b"]);
    for (const path of [
      "/wake-up",
      "/api/stepfold",
      "/api/stepfold/",
      "/api/stepfoldx/sweep",
      "/api/stepfold/sweep/",
      "/api/stepfold/constructor",
    ])
      expect((await ask(path, wakeUp({}))).status).toBe(404);
  });

  it.each([
    ["none", null],
    ["an empty one", ""],
    ["another scheme", `Basic ${secret}`],
    ["the secret alone", secret],
    ["a wrong one of the same length", `Bearer ${"x".repeat(secret.length)}`],
    ["one that begins like it", `Bearer ${secret.slice(0, -1)}`],
    ["one that goes on behind it", `Bearer ${secret}x`],
    ["an empty secret", "Bearer "],
    ["a huge one", `Bearer ${"x".repeat(100_000)}`],
    ["two", `Bearer ${secret}, Bearer ${secret}`],
  ])("answers 401 to a request with a wrong secret, whatever it asks for: %s", async (_name, authorization) => {
    const { ask } = fetchOf({}, untouched);
    for (const [path, init] of [
      ["/sweep", {}],
      ["/wake-up", wakeUp({ workflowIds: ["a"] })],
      ["/nothing", {}],
      ["/sweep", { method: "DELETE" }],
      ["/wake-up", wakeUp("x".repeat(100_000))],
    ] as const) {
      const { status, body } = await ask(path, { ...init, authorization });
      expect({ status, body }).toEqual({ status: 401, body: { error: "secret missing or wrong" } });
    }
  });

  it("takes each of two secrets while one is replaced", async () => {
    const { ask } = fetchOf({ secret: ["the-old-one-1234567", secret] });
    for (const one of ["the-old-one-1234567", secret]) expect((await ask("/sweep", { authorization: `Bearer ${one}` })).status).toBe(200);
  });

  it("refuses other methods, and bodies that are no list of ids", async () => {
    const { ask } = fetchOf({}, untouched);
    expect(await ask("/wake-up")).toMatchObject({ status: 405 });
    expect((await ask("/sweep", { method: "PUT" })).headers.get("allow")).toBe("GET, POST");
    const bodies = ["", "{", "null", "[]", '{"workflowIds":"a"}', '{"workflowIds":[]}', '{"workflowIds":[7]}', '{"workflowIds":[""]}'];
    for (const body of bodies) expect((await ask("/wake-up", wakeUp(body))).status).toBe(400);
    for (const id of ["a\u0000", "x".repeat(256), " ", "__proto__"])
      expect((await ask("/wake-up", wakeUp({ workflowIds: ["a", id] }))).status).toBe(400);
    const notUtf8 = Buffer.concat([Buffer.from('{"workflowIds":["'), Buffer.of(0xff), Buffer.from('"]}')]);
    expect((await ask("/wake-up", { method: "POST", body: notUtf8 })).status).toBe(400);
    expect((await ask("/wake-up", wakeUp({ workflowIds: Array.from({ length: 101 }, String) }))).status).toBe(400);
    expect((await ask("/wake-up", { method: "POST" })).status).toBe(400);
  });

  it("reads no body that is too large, too slow or broken off", async () => {
    const { ask } = fetchOf({}, untouched);
    const streamed = (pull: (controller: ReadableStreamDefaultController<Uint8Array>) => unknown): Asked => ({
      method: "POST",
      body: new ReadableStream({ pull: async (controller) => void (await pull(controller)) }),
      duplex: "half",
    });
    let pulled = 0;
    const endless = streamed((controller) => {
      pulled++;
      controller.enqueue(new Uint8Array(30_000));
    });
    expect((await ask("/wake-up", endless)).status).toBe(413);
    expect(pulled).toBeLessThan(6);
    expect((await ask("/wake-up", wakeUp(" ".repeat(70_000)))).status).toBe(413);
    const broken = streamed((controller) => controller.error(new TypeError("gone")));
    expect((await ask("/wake-up", broken)).status).toBe(400);
    const silent = streamed(() => new Promise(() => undefined));
    expect((await fetchOf({ timeoutMs: 20 }, untouched).ask("/wake-up", silent)).status).toBe(408);
  });

  it("says with a code what failed, and nothing else", async () => {
    const store = memoryStore();
    const unavailable = new StepfoldError("STORE_UNAVAILABLE", { store: "memory", reason: "password hunter2 was refused" });
    const away = { ...store, claim: () => Promise.reject(unavailable) };
    const { ask } = fetchOf({}, functionRuntime({ store: away }));
    const { status, headers, body } = await ask("/sweep");
    expect({ status, body, retry: headers.get("retry-after") }).toEqual({ status: 503, body: { error: "STORE_UNAVAILABLE" }, retry: "5" });
    expect(await ask("/wake-up", wakeUp({ workflowIds: ["a"] }))).toMatchObject({
      status: 200,
      body: { failed: [{ workflowId: "a", code: "STORE_UNAVAILABLE" }] },
    });
    const broken = fetchOf({}, untouched);
    expect(await broken.ask("/sweep")).toMatchObject({ status: 500, body: { error: "UNKNOWN" } });
  });

  it("ends in time, and when its caller hangs up", async () => {
    const { ask, runtime, store } = fetchOf({ timeoutMs: 100 });
    await runtime.start("stuck", { workflowId: "a" });
    expect(await ask("/sweep")).toMatchObject({ body: { left: [{ workflowId: "a", isAnnounced: false }] } });
    expect((await store.list()).items[0]!.lease).toBe(null);
    const patient = fetchOf({ timeoutMs: 60_000 });
    await patient.runtime.start("stuck", { workflowId: "a" });
    expect(await patient.ask("/sweep", { signal: AbortSignal.timeout(50) })).toMatchObject({ body: { left: [{ workflowId: "a" }] } });
  });

  it.each([
    { secret: "" },
    { secret: "short" },
    { secret: [] },
    { secret: [secret, "short"] },
    { secret: undefined },
    { secret: `${secret} with spaces` },
    { basePath: "api" },
    { basePath: "/api/" },
    { timeoutMs: 0 },
  ])("refuses options that make no sense: %j", (options) => {
    const { runtime } = functionRuntime();
    expect(() => handle(runtime, { secret, ...(options as object) })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    expect(() => handle(runtime, { secret, secrets: [] } as never)).toThrow(expect.objectContaining({ code: "OPTION_UNKNOWN" }));
  });
});
