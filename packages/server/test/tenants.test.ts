import type { SnapshotStore, WorkflowDefinition } from "stepfold";
import { idInPath } from "stepfold/client";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime } from "stepfold/runtime";
import { memoryStore } from "stepfold/stores/memory";
import { migratePostgres, postgresStore } from "stepfold/stores/postgres";
import { sqliteStore } from "stepfold/stores/sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { serviceUrl } from "../../../scripts/servers/service-url.ts";
import { createServer, liveEvents } from "../src/index.ts";
import { type AskOptions, ask as asking, double, type Served, served } from "./served.fixture.ts";

const people = [{ name: "ada", tenant: "acme" }, { name: "eve", tenant: "evil" }, { name: "root" }];

/** Every route that takes the id of an execution, with a good request. */
const requests: readonly (readonly [path: string, options: AskOptions])[] = [
  ["", {}],
  ["/events", {}],
  ["/events?before=9", {}],
  ["/snapshot", {}],
  ["/snapshot?version=0", {}],
  ["/steps/1", {}],
  ["/waits", {}],
  ["/definition", {}],
  ["/answer", { method: "POST", body: { payload: { approved: true } } }],
  ["/signal", { method: "POST", body: { name: "go" } }],
  ["/cancel", { method: "POST", body: {} }],
  ["/retry", { method: "POST", body: {} }],
  ["/restart", { method: "POST", body: {} }],
];

/** What a stranger sees of an answer: everything but the id of the request. */
function told({ status, text, headers }: Awaited<ReturnType<Served["ask"]>>): unknown {
  const names = [...headers.keys()].filter((name) => name !== "x-request-id").sort();
  return { status, text: text.replace(/"requestId":"[^"]*"/, ""), names, etag: headers.get("etag") };
}

const stores: readonly (readonly [name: string, open: () => Promise<SnapshotStore>])[] = [
  ["memory", async () => memoryStore()],
  ["SQLite", async () => sqliteStore(":memory:")],
];

describe.each(stores)("two tenants on one store: %s", (_, open) => {
  it("an execution of the other one is one that does not exist, on every route with an id", async () => {
    const store = await open();
    const { ask, server } = await served({ people, store });
    const withId = server.routes
      .filter(({ path }) => path.includes(":id"))
      .map(({ path }) => path.replace(/.*:id/, "").replace(":part", "1"));
    expect(new Set(requests.map(([path]) => path.split("?")[0]))).toEqual(new Set(withId));
    const ids = ["order-7", "order-8", idInPath('"acme"/order-7')];
    const before = new Map<string, unknown>();
    for (const id of ids)
      for (const [path, options] of requests)
        before.set(id + path, told(await ask(`/v1/executions/${id}${path}`, { ...options, as: "eve" })));
    for (const answer of before.values())
      expect(answer).toMatchObject({ status: 404, text: expect.stringContaining("WORKFLOW_NOT_FOUND") });

    const made = await ask("/v1/executions", { as: "ada", method: "POST", body: { workflow: "ask", id: "order-7", input: { order: 7 } } });
    expect([made.status, made.body.workflowId]).toEqual([201, '"acme"/order-7']);
    await expect.poll(async () => (await ask("/v1/executions/order-7", { as: "ada" })).body.status).toBe("paused");
    for (const id of ids)
      for (const [path, options] of requests)
        expect(told(await ask(`/v1/executions/${id}${path}`, { ...options, as: "eve" })), `${id}${path}`).toEqual(before.get(id + path));
    expect((await ask("/v1/executions/order-7", { as: "ada" })).body).toMatchObject({ status: "paused", tenant: "acme" });
    expect((await ask(`/v1/executions/${ids[2]}`, { as: "root" })).body).toMatchObject({ status: "paused", tenant: "acme" });

    const own = await ask("/v1/executions", { as: "eve", method: "POST", body: { workflow: "ask", id: "order-7", input: { order: 8 } } });
    expect([own.status, own.body.isNew]).toEqual([201, true]);
    expect((await ask("/v1/executions/order-7", { as: "ada" })).body.workflowId).toBe('"acme"/order-7');
    for (const [name, id] of [
      ["ada", '"acme"/order-7'],
      ["eve", '"evil"/order-7'],
    ] as const) {
      for (const query of ["", "?idPrefix=order", "?q=order", "?status=paused"])
        expect((await ask(`/v1/executions${query}`, { as: name })).body.items.map((row: { workflowId: string }) => row.workflowId)).toEqual(
          [id],
        );
    }
    expect((await ask("/v1/executions", { as: "root" })).body.items).toHaveLength(2);
    await store.close();
  });
});

describe("tenants", () => {
  it("see no definitions of others: not in the list, and not by their hash", async () => {
    const { ask, runtime } = await served({
      people: [
        ...people,
        { name: "editor", tenant: "acme", scopes: ["read", "edit"] },
        { name: "reader", tenant: "acme", scopes: ["read"] },
      ],
    });
    const secret = { ...double, id: "secret" };
    await (await runtime.start(secret, { tenant: "evil", input: { n: 1 } })).result();
    const [row] = (await runtime.list()).items;
    const { hash } = row!.definition;
    expect((await ask(`/v1/definitions/${hash}`, { as: "reader" })).status).toBe(404);
    expect((await ask(`/v1/definitions/${hash}`, { as: "editor" })).status).toBe(200);
    expect((await ask("/v1/workflows", { as: "reader" })).body.stored).toEqual([]);
    const known = runtime.describe().workflows[0]!.hash;
    expect((await ask(`/v1/definitions/${known}`, { as: "reader" })).status).toBe(200);
  });

  it("may have stores of their own", async () => {
    const opened: string[] = [];
    const { ask, store } = await served({
      people,
      tenants(tenant) {
        opened.push(tenant);
        const own = memoryStore();
        return { store: own, runtime: createRuntime({ store: own, workflows: [asking], nodeDefinitions: { ...builtinNodes } }) };
      },
    });
    for (const name of ["ada", "eve", "root"])
      expect((await ask("/v1/executions", { as: name, method: "POST", body: { workflow: "ask", id: "order-7", input: {} } })).body).toEqual(
        { workflowId: "order-7", isNew: true },
      );
    expect(opened).toEqual(["acme", "evil"]);
    expect((await store.list()).items).toHaveLength(1);
    expect((await ask("/v1/executions", { as: "ada" })).body.items).toHaveLength(1);
  });
});

describe("tenants with stores of their own, who use the same ids", () => {
  const listening = {
    id: "listening",
    nodes: [
      { id: "first", type: "signal", data: { name: "go" } },
      { id: "second", type: "signal", data: { name: "go on" } },
    ],
    edges: [{ source: "first", target: "second" }],
  } as WorkflowDefinition;

  it("are told live of their own executions only", async () => {
    const shared = liveEvents();
    const { ask, send, server } = await served({
      people,
      workflows: [listening],
      live: shared,
      tenants() {
        const own = memoryStore();
        const live = liveEvents();
        const runtime = createRuntime({
          ...{ store: own, workflows: [listening], pollMs: 20, plugins: [live.plugin, shared.plugin] },
          nodeDefinitions: { ...builtinNodes },
        });
        onTestFinished(() => runtime.close({ timeoutMs: 0 }));
        return { store: own, runtime, live };
      },
    });
    const signal = (as: string, name: string) =>
      ask("/v1/executions/order-7/signal", { as, method: "POST", body: { name, payload: `secret of ${as}` } });
    const seen = new Map<string, string>();
    const watching: Promise<void>[] = [];
    for (const as of ["ada", "eve"]) {
      await ask("/v1/executions", { as, method: "POST", body: { workflow: "listening", id: "order-7" } });
      await expect.poll(async () => (await ask("/v1/executions/order-7", { as })).body.status).toBe("paused");
      const stream = await send("/v1/stream?execution=order-7", { as });
      watching.push(
        (async () => {
          for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) seen.set(as, (seen.get(as) ?? "") + chunk);
        })(),
      );
      await expect.poll(() => seen.get(as)).toContain("event: head");
    }
    await signal("ada", "go");
    await expect.poll(() => seen.get("ada")).toContain("secret of ada");
    await signal("eve", "go");
    await expect.poll(() => seen.get("eve")).toContain("secret of eve");
    // only a process that runs an execution tells this
    for (const as of ["ada", "eve"]) await expect.poll(() => seen.get(as)).toContain("event: progress");
    server.close();
    await Promise.all(watching);
    expect(seen.get("eve")).not.toContain("secret of ada");
    expect(seen.get("ada")).not.toContain("secret of eve");
    for (const text of seen.values()) expect(text).not.toContain("event: reset");
  });
});

it("streams of a tenant end with its site, which is the one that nobody has asked for the longest time", async () => {
  const store = memoryStore();
  const runtime = createRuntime({ store, drive: false });
  const server = createServer({
    ...{ store, runtime, tenants: () => ({ store, runtime }) },
    auth: ({ headers }) => ({ id: "ada", scopes: ["read"], tenant: headers.get("x-tenant")! }),
  });
  const ask = (path: string, tenant: string) =>
    server.fetch(new Request(`http://localhost${path}`, { headers: { host: "localhost", "x-tenant": tenant } }));
  const [first, second] = await Promise.all(["tenant-0", "tenant-1"].map((tenant) => ask("/v1/stream?list=1", tenant)));
  await ask("/v1/me", "tenant-0");
  for (let other = 2; other <= 1_000; other++) await ask("/v1/me", `tenant-${other}`);
  expect(await new Response(second!.body).text()).toContain("retry:");
  const reader = first!.body!.getReader();
  expect((await reader.read()).done).toBe(false);
  const next = reader.read();
  expect(await Promise.race([next, new Promise((resolve) => setImmediate(() => resolve("open")))])).toBe("open");
  server.close();
  expect((await next).done).toBe(true);
});

const url = await serviceUrl("postgres");
describe.skipIf(url === null)("tenants on PostgreSQL", () => {
  it("start the same id, and reach only their own", async () => {
    const { Pool } = await import("pg");
    const pool = new Pool({ connectionString: url! });
    const schema = `server_${process.pid}_${Math.trunc(performance.timeOrigin % 1e9)}`;
    await migratePostgres(pool, { schema });
    const { ask } = await served({ people, store: postgresStore(pool, { schema }) });
    for (const name of ["ada", "eve"]) {
      expect((await ask("/v1/executions", { as: name, method: "POST", body: { workflow: "ask", id: "order-7", input: {} } })).status).toBe(
        201,
      );
      expect((await ask("/v1/executions", { as: name })).body.items).toHaveLength(1);
    }
    expect((await ask(`/v1/executions/${idInPath('"acme"/order-7')}`, { as: "eve" })).body.code).toBe("WORKFLOW_NOT_FOUND");
    await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
    await pool.end();
  });
});
