import type { WorkflowDefinition } from "stepfold";
import { idInPath, type WaitPage } from "stepfold/client";
import { memoryStore } from "stepfold/stores/memory";
import { describe, expect, it } from "vitest";
import { ask as asking, double, served } from "./served.fixture.ts";

const start = (body: object) => ({ method: "POST", body });

/** Fails once for good; a restart goes on. */
const failing = {
  id: "failing",
  nodes: [{ id: "charge", type: "fail", data: { message: "card {{ input.card }} was declined" } }],
  edges: [],
} as WorkflowDefinition;
const waitingForSignal = {
  id: "delivery",
  nodes: [{ id: "parcel", type: "signal", data: { name: "parcel", key: "{{ input.order }}" } }],
  edges: [],
} as WorkflowDefinition;

describe("starts", () => {
  it("answers 201 with the address of what was made, and 200 if it had been made before", async () => {
    const { ask } = await served();
    const first = await ask("/v1/executions", start({ workflow: "double", id: "order 7/ä", input: { n: 21 } }));
    expect([first.status, first.body]).toEqual([201, { workflowId: "order 7/ä", isNew: true }]);
    expect(first.headers.get("location")).toBe(`/v1/executions/${idInPath("order 7/ä")}`);
    const again = await ask("/v1/executions", start({ workflow: "double", id: "order 7/ä", input: { n: 21 } }));
    expect([again.status, again.body.isNew]).toEqual([200, false]);
    const other = await ask("/v1/executions", start({ workflow: "double", id: "order 7/ä", input: { n: 22 } }));
    expect([other.status, other.body.code, other.body.details]).toEqual([
      409,
      "START_CONFLICT",
      { workflowId: "order 7/ä", differs: "input" },
    ]);
    // it names what a caller over HTTP can do
    expect(other.body.detail).toContain(`GET ${first.headers.get("location")}`);
    expect(other.body.detail).not.toContain("runtime.get");
    const view = await ask(first.headers.get("location")!);
    expect(view.body).toMatchObject({ workflowId: "order 7/ä", definition: { id: "double" } });
  });

  it("takes the header idempotency-key for the id, and makes an id of its own without one", async () => {
    const { ask } = await served();
    const keyed = { ...start({ workflow: "double", input: { n: 1 } }), headers: { "idempotency-key": "click-1" } };
    expect((await ask("/v1/executions", keyed)).body).toEqual({ workflowId: "click-1", isNew: true });
    expect((await ask("/v1/executions", keyed)).body).toEqual({ workflowId: "click-1", isNew: false });
    const [one, two] = await Promise.all([0, 1].map(() => ask("/v1/executions", start({ workflow: "double", input: { n: 1 } }))));
    expect(one!.body.workflowId).not.toBe(two!.body.workflowId);
  });

  it("records who has started it, and takes no other name", async () => {
    const { ask, store } = await served();
    await ask("/v1/executions", start({ workflow: "double", id: "a", input: { n: 1 } }));
    expect((await store.events("a", -1, 1))[0]!.event).toMatchObject({ type: "started", who: "ada" });
    const named = await ask("/v1/executions", start({ workflow: "double", id: "b", input: { n: 1 }, by: "bob" }));
    expect([named.status, named.body.code, named.body.details.option]).toEqual([400, "OPTION_UNKNOWN", "by"]);
  });

  it.each([
    [{}, 400, "OPTION_INVALID", { option: "workflow" }],
    [{ workflow: 7 }, 400, "OPTION_INVALID", { option: "workflow" }],
    [{ workflow: "none" }, 404, "DEFINITION_UNKNOWN", { workflow: "none" }],
    [{ workflow: "double", input: { n: "7" } }, 422, "INPUT_INVALID", { issues: [{ pointer: "/n" }] }],
    [{ workflow: "double", input: { n: 1 }, id: "" }, 400, "OPTION_INVALID", { option: "workflowId" }],
    [{ workflow: "double", input: { n: 1 }, id: "__proto__" }, 400, "OPTION_INVALID", { option: "workflowId" }],
    [{ workflow: "double", input: { n: 1 }, timeout: "soon" }, 422, "DURATION_INVALID", {}],
    [{ workflow: "double", input: { n: 1 }, startAt: "tomorrow" }, 400, "OPTION_INVALID", { option: "startAt" }],
    [{ workflow: "double", input: { n: 1 }, metadata: [1] }, 400, "OPTION_INVALID", { option: "metadata" }],
    [{ workflow: "double", input: { n: 1 }, tenant: "acme" }, 400, "OPTION_UNKNOWN", { option: "tenant" }],
  ])("refuses %j with %i %s, and makes nothing", async (body, status, code, details) => {
    const { ask, store } = await served();
    const refused = await ask("/v1/executions", start(body));
    expect([refused.status, refused.body.code]).toEqual([status, code]);
    expect(refused.body).toMatchObject({
      details,
      detail: expect.stringMatching(/\S/),
      retryable: false,
      type: `urn:stepfold:error:${code}`,
    });
    expect((await store.list()).items).toEqual([]);
  });
});

describe("lists", () => {
  it("filters by what the query says, and pages by its cursor", async () => {
    const { ask, runtime } = await served({ workflows: [asking, double] });
    for (const n of [1, 2, 3])
      await runtime.start("double", { workflowId: `double-${n}`, input: { n }, metadata: { n, country: n === 1 ? "at" : "de" } });
    for (const n of [1, 2]) await (await runtime.start("ask", { workflowId: `ask-${n}`, input: { order: n } })).waitFor("paused");
    for (const n of [1, 2, 3]) await (await runtime.get(`double-${n}`)).result();
    const ids = async (query: string): Promise<string[]> => {
      const { body, status } = await ask(`/v1/executions${query}`);
      expect(status).toBe(200);
      return body.items.map(({ workflowId }: { workflowId: string }) => workflowId).sort();
    };
    expect(await ids("")).toEqual(["ask-1", "ask-2", "double-1", "double-2", "double-3"]);
    expect(await ids("?status=paused,failed")).toEqual(["ask-1", "ask-2"]);
    expect(await ids("?workflow=double&meta.n=2")).toEqual(["double-2"]);
    expect(await ids('?meta.n="2"')).toEqual([]);
    expect(await ids("?meta.country=de")).toEqual(["double-2", "double-3"]);
    expect(await ids("?idPrefix=ask-")).toEqual(["ask-1", "ask-2"]);
    expect(await ids("?waiting=external&waitingNode=approve")).toEqual(["ask-1", "ask-2"]);
    expect(await ids("?waiting=signal")).toEqual([]);
    expect(await ids("?waiting=any")).toEqual(["ask-1", "ask-2"]);
    expect(await ids("?createdAfter=2000-01-01T00:00:00Z&createdBefore=2000-01-02T00:00:00%2B02:00")).toEqual([]);
    expect(await ids("?q=DOUBLE-2")).toEqual(["double-2"]);
    expect(await ids("?node=approve")).toEqual(["ask-1", "ask-2"]);
    for (const filter of ["", "&q=-", "&status=completed&q=double"]) {
      const seen: string[] = [];
      for (let cursor = ""; ; ) {
        const { body } = await ask(`/v1/executions?limit=2${filter}${cursor}`);
        expect(body.items.length).toBeLessThanOrEqual(2);
        seen.push(...body.items.map(({ workflowId }: { workflowId: string }) => workflowId));
        if (body.nextCursor === null) break;
        cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`;
      }
      expect(seen).toHaveLength(filter.includes("completed") ? 3 : 5);
      expect(new Set(seen).size).toBe(seen.length);
    }
  });

  it("goes on behind an execution that was deleted between two pages of a residual filter", async () => {
    const { ask, runtime, store } = await served();
    for (const n of [1, 2, 3, 4]) await (await runtime.start("double", { workflowId: `double-${n}`, input: { n } })).result();
    const first = await ask("/v1/executions?limit=2&q=double");
    expect(first.body).toMatchObject({ looked: 2, complete: true, items: [{ workflowId: "double-4" }, { workflowId: "double-3" }] });
    await store.delete("double-3");
    const second = await ask(`/v1/executions?limit=4&q=double&cursor=${encodeURIComponent(first.body.nextCursor)}`);
    // one that was made in the same millisecond as the deleted one may come once more
    const rest = second.body.items.map(({ workflowId }: { workflowId: string }) => workflowId).filter((id: string) => id !== "double-4");
    expect(rest).toEqual(["double-2", "double-1"]);
  });

  it.each([
    "status=broken",
    "limit=0",
    "limit=201",
    "limit=x",
    "order=up",
    "createdAfter=yesterday",
    "waiting=coffee",
    "status=paused&status=failed",
    "cursor=x",
  ])("refuses the query %s", async (query) => {
    const { ask } = await served();
    const { status, body } = await ask(`/v1/executions?${query}`);
    expect([status, body.code]).toEqual([400, "OPTION_INVALID"]);
  });
});

describe("one execution", () => {
  it("tells how it stands, and answers 304 while nothing has changed", async () => {
    const { ask, runtime } = await served();
    await (await runtime.start("ask", { workflowId: "a", input: { order: 7 } })).waitFor("paused");
    await expect.poll(async () => (await ask("/v1/executions/a")).body.lease).toBe(null);
    const { body, headers } = await ask("/v1/executions/a");
    expect(body).toMatchObject({
      ...{ workflowId: "a", status: "paused", error: null, waitCount: 1, steps: 1 },
      explanation: { sentence: expect.stringMatching(/^approve waits for an answer/) },
      waits: [{ nodeId: "approve", payload: { title: "Order 7" }, schema: { type: "object" } }],
    });
    expect(body.output).toBe(undefined);
    const etag = headers.get("etag")!;
    const same = await ask("/v1/executions/a", { headers: { "if-none-match": etag } });
    expect([same.status, same.text, same.headers.get("etag")]).toEqual([304, "", etag]);
    await (await runtime.get("a")).resume({ payload: { approved: true } });
    await (await runtime.get("a")).result();
    const changed = await ask("/v1/executions/a", { headers: { "if-none-match": etag } });
    expect(changed.body).toMatchObject({ status: "completed", output: { order: 7 }, waits: [], waitCount: 0 });
  });

  it("reads its history by pages, forwards and backwards, and by node and type", async () => {
    const { ask, runtime } = await served();
    const run = await runtime.start("ask", { workflowId: "a", input: { order: 7 } });
    await run.waitFor("paused");
    await run.resume({ payload: { approved: true } });
    await run.result();
    const types = async (query: string): Promise<[string[], number | null]> => {
      const { body } = await ask(`/v1/executions/a/events${query}`);
      return [body.items.map(({ type }: { type: string }) => type), body.next];
    };
    const [all] = await types("");
    expect(all).toEqual(["started", "suspended", "resumed", "completed", "completed"]);
    expect(await types("?limit=2")).toEqual([["started", "suspended"], 1]);
    expect(await types("?limit=2&after=1")).toEqual([["resumed", "completed"], 3]);
    expect(await types("?limit=2&before=4")).toEqual([["resumed", "completed"], 2]);
    expect(await types("?node=approve")).toEqual([["started", "suspended", "completed"], null]);
    expect(await types("?type=resumed")).toEqual([["resumed"], null]);
    expect((await ask("/v1/executions/a/events?after=1&before=3")).status).toBe(400);
    expect((await ask("/v1/executions/a/events")).body.last).toBe(4);
  });

  it("returns snapshots of the past, and what a step has read", async () => {
    const { ask, runtime } = await served();
    const run = await runtime.start("ask", { workflowId: "a", input: { order: 7 } });
    await run.waitFor("paused");
    await run.resume({ payload: { approved: true, comment: "good" } });
    await run.result();
    const past = await ask("/v1/executions/a/snapshot?version=1");
    expect(past.body).toMatchObject({ version: 1, status: "paused", activePaths: [{ nodeId: "approve" }] });
    expect((await ask("/v1/executions/a/snapshot")).body).toMatchObject({ version: 4, status: "completed" });
    expect((await ask("/v1/executions/a/snapshot?version=99")).status).toBe(404);
    const step = await ask("/v1/executions/a/steps/3");
    expect(step.body).toMatchObject({
      event: { type: "completed", nodeId: "approve" },
      input: { address: "approve", data: { title: "Order 7" } },
    });
    expect((await ask("/v1/executions/a/steps/0")).body).toMatchObject({ event: { type: "started" }, input: null });
    for (const version of ["99", "x", "-1", "1e3"]) expect((await ask(`/v1/executions/a/steps/${version}`)).status).toBe(404);
  });

  it("returns the definition that it follows, or has followed, and no other", async () => {
    const { ask, runtime } = await served();
    await (await runtime.start("double", { workflowId: "a", input: { n: 1 } })).result();
    await (await runtime.start("ask", { workflowId: "b", input: {} })).waitFor("paused");
    const own = await ask("/v1/executions/a/definition");
    expect(own.body).toMatchObject({ id: "double" });
    const [other] = runtime.describe().workflows.filter(({ id }) => id === "ask");
    expect((await ask(`/v1/executions/a/definition?hash=${other!.hash}`)).status).toBe(404);
    expect((await ask(`/v1/definitions/${other!.hash}`)).body.id).toBe("ask");
    const none = await ask("/v1/definitions/none");
    expect([none.status, none.body.code]).toEqual([404, "DEFINITION_UNKNOWN"]);
  });

  it("says that its definition is gone", async () => {
    const store = memoryStore();
    const { ask, runtime } = await served({ store: { ...store, getDefinition: async () => null } });
    await (await runtime.start("ask", { workflowId: "a", input: {} })).waitFor("paused");
    const gone = await ask("/v1/executions/a/definition");
    expect([gone.status, gone.body.code]).toEqual([409, "DEFINITION_MISSING"]);
    expect((await ask("/v1/executions/a")).body.status).toBe("paused");
  });

  it("answers a page of waits without those before, also if the last one of them was answered meanwhile", async () => {
    const each = {
      id: "each",
      nodes: [{ id: "ask", type: "map", data: { workflow: "one", items: "{{ input }}", concurrency: 50 } }],
      edges: [],
      workflows: { one: { id: "one", nodes: [{ id: "approve", type: "approval", data: { title: "?" } }], edges: [] } },
    } as unknown as WorkflowDefinition;
    const { ask, runtime } = await served({ workflows: [each] });
    const run = await runtime.start("each", { workflowId: "a", input: Array.from({ length: 12 }, (_, item) => item) });
    await expect.poll(async () => (await ask("/v1/executions/a")).body.waitCount).toBe(12);
    const page = async (after: string) =>
      (await ask(`/v1/executions/a/waits?limit=5${after && `&after=${encodeURIComponent(after)}`}`)).body as WaitPage;
    const addresses: string[] = [];
    for (let after: string | null = ""; after !== null; ) {
      const { items, next }: WaitPage = await page(after);
      addresses.push(...items.map(({ address }) => address));
      if (next !== null) await run.resume({ waitId: next, payload: { approved: true } });
      after = next;
    }
    expect(addresses).toEqual(Array.from({ length: 12 }, (_, item) => `ask[${item}]/approve`));
  });

  it("has another entity tag once another process holds it", async () => {
    const store = memoryStore();
    let until = 1;
    const { ask, runtime } = await served({
      store: {
        ...store,
        summaries: async (ids) =>
          (await store.summaries!(ids)).map((summary) => ({ ...summary, lease: { owner: `worker-${until}`, until, crashes: 0 } })),
      },
    });
    await (await runtime.start("ask", { workflowId: "a", input: {} })).waitFor("paused");
    const first = await ask("/v1/executions/a");
    const again = () => ask("/v1/executions/a", { headers: { "if-none-match": first.headers.get("etag")! } });
    expect((await again()).status).toBe(304);
    until = 2;
    expect((await again()).body.lease.owner).toBe("worker-2");
  });

  it("is moved by commands, each of which records who has sent it", async () => {
    const { ask, runtime, store } = await served({ workflows: [asking, failing, waitingForSignal] });
    const command = (id: string, name: string, body: object = {}) => ask(`/v1/executions/${id}/${name}`, { method: "POST", body });
    const whoOf = async (id: string, type: string) =>
      (await store.events(id, -1, 100)).map(({ event }) => event).find((event) => event.type === type)?.who;
    for (const id of ["a", "b"]) await (await runtime.start("ask", { workflowId: id, input: { order: 7 } })).waitFor("paused");

    const wrong = await command("a", "answer", { payload: { approved: "yes" }, idempotencyKey: "k" });
    expect([wrong.status, wrong.body.code, wrong.body.details.issues[0].pointer]).toEqual([422, "RESUME_INVALID", "/approved"]);
    expect((await command("a", "answer", { payload: { approved: true }, idempotencyKey: "k" })).body).toEqual({ applied: true });
    expect((await command("a", "answer", { payload: { approved: true }, idempotencyKey: "k" })).body).toEqual({ applied: false });
    expect(await whoOf("a", "resumed")).toBe("ada");

    expect((await command("b", "cancel", { reason: "sold out" })).status).toBe(204);
    expect(await whoOf("b", "cancelled")).toBe("ada");
    const late = await command("b", "cancel");
    expect([late.status, late.body.code]).toEqual([409, "EXECUTION_ENDED"]);
    expect((await command("b", "retry")).body.code).toBe("EXECUTION_ENDED");
    expect((await command("b", "restart")).body).toMatchObject({ workflowId: "b", applied: true, reason: "restarted" });
    expect((await command("b", "restart")).body).toMatchObject({ applied: false, reason: "open" });

    await (await runtime.start("delivery", { workflowId: "c", input: { order: "7" } })).waitFor("paused");
    expect((await command("c", "signal", { payload: 1 })).body.code).toBe("OPTION_INVALID");
    expect((await command("c", "signal", { name: "parcel", key: "7", payload: { at: "door" }, idempotencyKey: "s" })).body).toEqual({
      applied: true,
    });
    expect((await (await runtime.get("c")).result()) as object).toMatchObject({});
    const completed = await command("c", "restart");
    expect([completed.status, completed.body.code]).toEqual([409, "FORK_REFUSED"]);
    expect(completed.body.detail).toContain("No route forks");

    await runtime.start("failing", { workflowId: "d", input: { card: "4242" } });
    await (await runtime.get("d")).waitFor("failed");
    expect((await ask("/v1/executions/d")).body.error).toMatchObject({ code: "CARD_DECLINED", message: "card 4242 was declined" });
    expect((await command("d", "restart", { keys: "new", idempotencyKey: "r" })).body.applied).toBe(true);
    expect((await command("none", "cancel")).body.code).toBe("WORKFLOW_NOT_FOUND");
    expect((await command("a", "answer", { payload: {}, waitid: "x" })).body.code).toBe("OPTION_UNKNOWN");
  });
});

describe("descriptions", () => {
  it("tells who the caller is, what can be started and what the API is", async () => {
    const { ask } = await served({ people: [{ name: "ada", scopes: ["read"], tenant: "acme" }] });
    expect((await ask("/v1/me")).body).toMatchObject({ id: "ada", scopes: ["read"], tenant: "acme", store: { name: "memory" } });
    expect((await ask("/v1/health", { as: null })).body).toEqual({ ok: true });
    expect((await ask("/v1/workflows")).body).toMatchObject({ workflows: [{ id: "ask", missingTypes: [] }, { id: "double" }], stored: [] });
    expect((await ask("/v1/node-types")).body.nodeTypes.map(({ type }: { type: string }) => type)).toContain("approval");
    const { body } = await ask("/v1/openapi.json", { as: null });
    expect(body.openapi).toBe("3.1.0");
    expect(body.paths["/v1/executions/{id}/answer"].post).toMatchObject({ security: [{ token: ["answer"] }] });
    expect(body.paths["/v1/executions"].post.requestBody.content["application/json"].schema.required).toEqual(["workflow"]);
  });

  it("tells what people should know of the server, while there is something", async () => {
    let notice: string | null = "No code runs";
    const { ask } = await served({ notice: () => notice });
    expect((await ask("/v1/me")).body.notice).toBe("No code runs");
    notice = null;
    expect((await ask("/v1/me")).body).not.toHaveProperty("notice");
  });

  it("tells that the store is away, and says no more about it", async () => {
    const problems: unknown[] = [];
    const { ask, store } = await served({ onProblem: (error) => problems.push(error) });
    const broken = { ...store, now: () => Promise.reject(new Error("password=hunter2")) };
    const { ask: askBroken } = await served({
      store: broken as typeof store,
      onProblem: (error) => problems.push(error),
      runtimeOptions: { drive: false },
    });
    expect((await ask("/v1/health", { as: null })).status).toBe(200);
    const { status, text, body } = await askBroken("/v1/health", { as: null });
    expect([status, body.code]).toEqual([500, "INTERNAL"]);
    expect(text).not.toContain("hunter2");
    expect(problems).toHaveLength(1);
  });
});
