import { type SnapshotStore, StepfoldError } from "stepfold";
import { memoryStore } from "stepfold/stores/memory";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createServer, type ServerOptions, tokens } from "../src/index.ts";
import { everyScope, type Served, served } from "./served.fixture.ts";

const secret = "connect ECONNREFUSED 10.1.2.3:5432, password=hunter2";

/** A store whose reads can be made to fail or to hang. */
function breakable(): { readonly store: SnapshotStore; broken: (() => Promise<never>) | null } {
  const inner = memoryStore();
  const state: { store: SnapshotStore; broken: (() => Promise<never>) | null } = { store: inner, broken: null };
  state.store = {
    ...inner,
    loadHead: (id) => state.broken?.() ?? inner.loadHead(id),
    getDefinition: (hash) => state.broken?.() ?? inner.getDefinition(hash),
    list: (query) => state.broken?.() ?? inner.list(query),
    now: () => state.broken?.() ?? inner.now(),
  };
  return state;
}

async function paused({ runtime }: Served): Promise<void> {
  await (await runtime.start("ask", { workflowId: "a", input: { order: 7 } })).waitFor("paused");
}

/** A server of another process, which knows nothing yet. */
function anotherServer({ runtime, store }: Served, options: Partial<ServerOptions> = {}) {
  const server = createServer({ runtime, store, auth: "off", ...options });
  onTestFinished(() => server.close());
  return async (path: string) => {
    const response = await server.fetch(new Request(`http://localhost${path}`, { headers: { host: "localhost" } }));
    const text = await response.text();
    return { status: response.status, text, body: JSON.parse(text) as { readonly code?: string; readonly retryable?: boolean } };
  };
}

describe("a store that is away", () => {
  it("tells callers nothing of itself, except admins", async () => {
    const state = breakable();
    const all = await served({ store: state.store, people: [{ name: "ada" }, { name: "looker", scopes: ["read", "values"] }] });
    await paused(all);
    state.broken = () => Promise.reject(new StepfoldError("STORE_UNAVAILABLE", { store: "postgres", reason: secret }));
    const ask = anotherServer(all);
    for (const refused of [await all.ask("/v1/executions/a", { as: "looker" }), await ask("/v1/health")]) {
      expect([refused.status, refused.body.code, refused.body.retryable]).toEqual([503, "STORE_UNAVAILABLE", true]);
      expect(refused.text).not.toContain("hunter2");
    }
    expect((await all.ask("/v1/executions/a")).text).toContain("hunter2");
  });

  it("makes /v1/health say so, though it has answered a second ago", async () => {
    const state = breakable();
    const all = await served({ store: state.store, runtimeOptions: { drive: false } });
    let monotonicMs = 0;
    const environment = { now: () => Date.now(), monotonicMs: () => monotonicMs, newId: () => "id", after: () => () => undefined };
    const ask = anotherServer(all, { environment });
    expect((await ask("/v1/health")).status).toBe(200);
    state.broken = () => Promise.reject(new RangeError(secret));
    monotonicMs += 1_001;
    expect((await ask("/v1/health")).status).toBe(500);
  });

  it("is asked for its clock once by all who ask at the same time", async () => {
    const state = breakable();
    const now = vi.spyOn(state.store, "now");
    const all = await served({ store: state.store, runtimeOptions: { drive: false } });
    const ask = anotherServer(all);
    now.mockClear();
    await Promise.all(Array.from({ length: 50 }, () => ask("/v1/health")));
    expect(now).toHaveBeenCalledOnce();
  });
});

it("an answer of the store that is lost is missed for a time, and not for ever", async () => {
  const state = breakable();
  const all = await served({ store: state.store });
  await paused(all);
  const timers: (() => void)[] = [];
  const after = (_delayMs: number, callback: () => void): (() => void) => {
    timers.push(callback);
    return () => undefined;
  };
  const ask = anotherServer(all, { environment: { now: () => Date.now(), monotonicMs: () => 0, newId: () => "id", after } });
  await ask("/v1/health");
  timers.length = 0;
  state.store.getDefinition = () => new Promise<never>(() => undefined);
  const lost = ask("/v1/executions/a");
  await expect.poll(() => timers.length).toBeGreaterThan(0);
  for (const expire of timers) expire();
  expect([(await lost).status, (await lost).body.code]).toEqual([503, "STORE_UNAVAILABLE"]);
});

describe("functions of the host", () => {
  it("onProblem may reject: nobody is hurt", async () => {
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    onTestFinished(() => void process.off("unhandledRejection", unhandled));
    const told: unknown[] = [];
    const { ask } = await served({
      studio: () => Promise.reject(new RangeError("no page")),
      onProblem: async (error) => {
        told.push(error);
        throw error;
      },
    });
    expect((await ask("/")).status).toBe(500);
    await new Promise((resolve) => setImmediate(resolve));
    expect([told.length, unhandled.mock.calls]).toEqual([1, []]);
  });

  it.each([
    [{ id: "x", scopes: "no-admin,readonly" }],
    [{ id: "x" }],
    [{ scopes: ["read"] }],
    [{ id: "", scopes: ["read"] }],
    [{ id: "x", scopes: ["read"], tenant: null }],
    [{ id: "x", scopes: ["read"], tenant: "" }],
    [{ id: "x", scopes: ["read"], tenant: 7 }],
  ])("auth that returns %j lets nobody in, and is told to onProblem", async (principal) => {
    const all = await served();
    await paused(all);
    const problems: unknown[] = [];
    const ask = anotherServer(all, { auth: () => principal as never, onProblem: (error) => problems.push(error) });
    expect(await ask("/v1/executions")).toMatchObject({ status: 500, body: { code: "INTERNAL" } });
    expect(problems).toEqual([expect.objectContaining({ message: expect.stringContaining("auth") })]);
  });

  it("callers of different tenants are counted one by one, however they are called", async () => {
    const all = await served();
    let who = { id: "c", tenant: "a/b" };
    const ask = anotherServer(all, { auth: () => ({ ...who, scopes: everyScope }), maxRequestsPerMinute: 3 });
    for (let i = 0; i < 8; i++) await ask("/v1/me");
    who = { id: "b/c", tenant: "a" };
    expect((await ask("/v1/me")).status).toBe(200);
  });

  it("tokens of a tenant that cannot be one are refused when they are given", () => {
    const token = { sha256: "0".repeat(64), name: "ada", scopes: everyScope };
    for (const tenant of ["", " acme", "a\nb"])
      expect(() => tokens([{ ...token, tenant }]), tenant).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    expect(() => tokens([{ ...token, tenant: "acme" }])).not.toThrow();
  });
});
