import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { type Client, createClient } from "../../src/client/index.ts";
import { LoopbackServer } from "./loopback-server.fixture.ts";

interface Expected {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly body?: object;
}

const calls: readonly (readonly [string, (client: Client) => Promise<unknown>, Expected])[] = [
  ["me", (client) => client.me(), { method: "GET", url: "/v1/me" }],
  ["health", (client) => client.health(), { method: "GET", url: "/v1/health" }],
  ["openapi", (client) => client.openapi(), { method: "GET", url: "/v1/openapi.json" }],
  ["workflows", (client) => client.workflows(), { method: "GET", url: "/v1/workflows" }],
  ["nodeTypes", (client) => client.nodeTypes(), { method: "GET", url: "/v1/node-types" }],
  ["definition", (client) => client.definition("9f2c"), { method: "GET", url: "/v1/definitions/9f2c" }],
  ["definition, of a strange hash", (client) => client.definition("../me"), { method: "GET", url: "/v1/definitions/~Li4vbWU" }],
  ["list", ({ executions }) => executions.list(), { method: "GET", url: "/v1/executions" }],
  [
    "list, of several statuses",
    ({ executions }) => executions.list({ status: ["failed", "cancelled"] }),
    list("status=failed%2Ccancelled"),
  ],
  ["list, of one status", ({ executions }) => executions.list({ status: "paused", workflow: undefined }), list("status=paused")],
  [
    "list, with every key",
    ({ executions }) =>
      executions.list({
        workflow: "order",
        idPrefix: "order-",
        createdAfter: "2026-01-01T00:00:00Z",
        createdBefore: 1_767_225_600_000,
        waiting: "external",
        waitingNode: "approve",
        signal: "paid",
        responder: "ada",
        q: "a b&c=d",
        node: "charge",
        error: "DECLINED",
        order: "oldest",
        limit: 200,
        cursor: "c+/=",
      }),
    list(
      "workflow=order&idPrefix=order-&createdAfter=2026-01-01T00%3A00%3A00Z&createdBefore=1767225600000&waiting=external&waitingNode=approve" +
        "&signal=paid&responder=ada&q=a+b%26c%3Dd&node=charge&error=DECLINED&order=oldest&limit=200&cursor=c%2B%2F%3D",
    ),
  ],
  [
    "list, by metadata, in which a text and a number differ",
    ({ executions }) => executions.list({ metadata: { region: "eu", no: 7, text: "7", isNew: true, "a.b&c": "ü" } }),
    list("meta.region=%22eu%22&meta.no=7&meta.text=%227%22&meta.isNew=true&meta.a.b%26c=%22%C3%BC%22"),
  ],
  ["get", ({ executions }) => executions.get("order-1"), { method: "GET", url: "/v1/executions/order-1" }],
  ["get, of a strange id", ({ executions }) => executions.get("a/../b"), { method: "GET", url: "/v1/executions/~YS8uLi9i" }],
  ["events", ({ executions }) => executions.events("order-1"), of("/events")],
  [
    "events, a page",
    ({ executions }) => executions.events("order-1", { after: -1, limit: 1_000, view: "full", node: "charge", type: "completed" }),
    of("/events?after=-1&limit=1000&view=full&node=charge&type=completed"),
  ],
  ["events, backwards", ({ executions }) => executions.events("order-1", { before: 17 }), of("/events?before=17")],
  ["snapshot", ({ executions }) => executions.snapshot("order-1"), of("/snapshot")],
  ["snapshot, of a version", ({ executions }) => executions.snapshot("order-1", { version: 0 }), of("/snapshot?version=0")],
  ["step", ({ executions }) => executions.step("order-1", 17), of("/steps/17")],
  ["waits", ({ executions }) => executions.waits("order-1"), of("/waits")],
  [
    "waits, a page",
    ({ executions }) => executions.waits("order-1", { after: "0.1@4", limit: 20, address: "pack[3]/ask" }),
    of("/waits?after=0.1%404&limit=20&address=pack%5B3%5D%2Fask"),
  ],
  ["definition of an execution", ({ executions }) => executions.definition("order-1"), of("/definition")],
  ["definition of an earlier run", ({ executions }) => executions.definition("order-1", { hash: "9f2c" }), of("/definition?hash=9f2c")],
  [
    "start",
    ({ executions }) =>
      executions.start({ workflow: "order", id: "a/b", input: { total: 49.98 }, metadata: { region: "eu" }, timeout: "2h" }),
    {
      method: "POST",
      url: "/v1/executions",
      body: { workflow: "order", id: "a/b", input: { total: 49.98 }, metadata: { region: "eu" }, timeout: "2h" },
    },
  ],
  [
    "answer",
    ({ executions }) => executions.answer("order-1", { waitId: "0.1@4", payload: { approved: true }, idempotencyKey: "k" }),
    of("/answer", { waitId: "0.1@4", payload: { approved: true }, idempotencyKey: "k" }),
  ],
  [
    "signal",
    ({ executions }) => executions.signal("order-1", { name: "paid", payload: null, key: "o-7", ttl: "1d" }),
    of("/signal", { name: "paid", payload: null, key: "o-7", ttl: "1d" }),
  ],
  ["cancel", ({ executions }) => executions.cancel("order-1"), of("/cancel", {})],
  [
    "cancel, an item",
    ({ executions }) => executions.cancel("order-1", { step: "pack", item: 3, reason: "lost" }),
    of("/cancel", { step: "pack", item: 3, reason: "lost" }),
  ],
  ["retry", ({ executions }) => executions.retry("order-1"), of("/retry", {})],
  ["retry, of a step", ({ executions }) => executions.retry("order-1", { step: "charge" }), of("/retry", { step: "charge" })],
  ["restart", ({ executions }) => executions.restart("order-1"), of("/restart", {})],
  [
    "restart, as asked for",
    ({ executions }) => executions.restart("order-1", { compensated: "again", keys: "new" }),
    of("/restart", { compensated: "again", keys: "new" }),
  ],
];

function list(query: string): Expected {
  return { method: "GET", url: `/v1/executions?${query}` };
}

function of(rest: string, body?: object): Expected {
  return { method: body ? "POST" : "GET", url: `/v1/executions/order-1${rest}`, ...(body && { body }) };
}

async function setUp() {
  const server = await LoopbackServer.open();
  return { server, client: createClient({ url: `${server.url}/`, token: "secret" }) };
}

describe("each method makes one request and returns its answer", () => {
  it.each(calls)("%s", async (_, call, { method, url, body }) => {
    const { server, client } = await setUp();
    const calling = call(client);
    const exchange = await server.next();
    exchange.reply(200, { some: "answer" });
    expect(await calling).toEqual({ some: "answer" });
    expect({ method: exchange.method, url: exchange.url }).toEqual({ method, url });
    expect(exchange.headers.authorization).toBe("Bearer secret");
    expect(exchange.headers["content-type"]).toBe(body && "application/json");
    expect(exchange.body === "" ? undefined : JSON.parse(exchange.body)).toEqual(body);
    expect(server.waitingCount).toBe(0);
  });

  it("has a case for each method", () => {
    const { executions, stream, ...others } = createClient({ url: "http://127.0.0.1" });
    const names = [...Object.keys(executions), ...Object.keys(others)].filter((name) => !name.startsWith("watch"));
    expect(stream).toBeTypeOf("function");
    expect(names.filter((name) => !calls.some(([title]) => title === name || title.startsWith(`${name},`)))).toEqual([]);
  });

  it("returns nothing for 204", async () => {
    const { server, client } = await setUp();
    const cancelling = client.executions.cancel("order-1");
    (await server.next()).reply(204);
    expect(await cancelling).toBeUndefined();
  });

  it("sends no token if there is none, keeps the path of the URL, and uses the given fetch", async () => {
    const server = await LoopbackServer.open();
    const asked: string[] = [];
    const client = createClient({
      url: `${server.url}/flows`,
      fetch: (url, init) => {
        asked.push(url);
        return fetch(url, init);
      },
    });
    const asking = client.me();
    const exchange = await server.next();
    exchange.reply(200, { id: "ada" });
    expect(await asking).toEqual({ id: "ada" });
    expect(exchange.url).toBe("/flows/v1/me");
    expect(exchange.headers).not.toHaveProperty("authorization");
    expect(asked).toEqual([`${server.url}/flows/v1/me`]);
  });

  it("reads an answer whose chunks end in the middle of a character", async () => {
    const bytes = new TextEncoder().encode('{"name":"Jürgen 😀"}');
    const body = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const client = createClient({ url: "", fetch: async () => new Response(body) });
    expect(await client.me()).toEqual({ name: "Jürgen 😀" });
  });

  it("asks the origin of the page if the URL is empty", async () => {
    const asked: string[] = [];
    const answer = async (url: string): Promise<Response> => {
      asked.push(url);
      return Response.json({});
    };
    await createClient({ url: "", fetch: answer }).me();
    expect(asked).toEqual(["/v1/me"]);
  });
});

describe("a view that is known already", () => {
  it("is returned again if nothing has changed, without being transferred", async () => {
    const { server, client } = await setUp();
    const first = client.executions.get("order-1");
    (await server.next()).reply(200, { version: 4 }, { etag: '"i-1.4"' });
    const known = await first;
    const second = client.executions.get("order-1", { known });
    const asked = await server.next();
    expect(asked.headers["if-none-match"]).toBe('"i-1.4"');
    asked.reply(304);
    expect(await second).toBe(known);

    const third = client.executions.get("order-1", { known });
    (await server.next()).reply(200, { version: 5 }, { etag: '"i-1.5"' });
    const changed = await third;
    expect(changed).toEqual({ version: 5 });
    const fourth = client.executions.get("order-1", { known: changed });
    const askedAgain = await server.next();
    expect(askedAgain.headers["if-none-match"]).toBe('"i-1.5"');
    askedAgain.reply(304);
    expect(await fourth).toBe(changed);
  });

  it("is asked for as usual if it came without a tag; 304 is then no answer", async () => {
    const { server, client } = await setUp();
    const first = client.executions.get("order-1");
    (await server.next()).reply(200, { version: 4 });
    const second = client.executions.get("order-1", { known: await first });
    const asked = await server.next();
    expect(asked.headers).not.toHaveProperty("if-none-match");
    asked.reply(304);
    await expect(second).rejects.toMatchObject({ code: "UNEXPECTED_ANSWER", status: 304 });
  });
});

describe("a call with a signal", () => {
  it("ends while the server has not answered", async () => {
    const { server, client } = await setUp();
    const abort = new AbortController();
    const calling = client.me({ signal: abort.signal });
    const exchange = await server.next();
    abort.abort(new Error("enough"));
    await expect(calling).rejects.toThrow("enough");
    await exchange.closed;
  });

  it("ends in the middle of an answer", async () => {
    const { server, client } = await setUp();
    const abort = new AbortController();
    const calling = client.executions.list({}, { signal: abort.signal });
    const exchange = (await server.next()).openStream();
    await exchange.write('{"items":[');
    abort.abort(new Error("enough"));
    await expect(calling).rejects.toThrow("enough");
    await exchange.closed;
  });

  it("ends in the middle of an answer that was made in this process and knows no signal", async () => {
    let isCancelled = false;
    const abort = new AbortController();
    const body = new ReadableStream({
      pull: () => abort.abort(new Error("enough")),
      cancel() {
        isCancelled = true;
      },
    });
    const client = createClient({ url: "", fetch: async () => new Response(body) });
    await expect(client.me({ signal: abort.signal })).rejects.toThrow("enough");
    expect(isCancelled).toBe(true);
  });

  it("leaves nothing at the signal when it is over, so one signal can serve many calls", async () => {
    const { signal } = new AbortController();
    const client = createClient({ url: "", token: async () => "secret", fetch: async () => Response.json({ some: "answer" }) });
    expect(await client.me({ signal })).toEqual({ some: "answer" });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("is not even sent if the signal was aborted before", async () => {
    const { server, client } = await setUp();
    await expect(client.executions.start({ workflow: "order" }, { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow(
      "enough",
    );
    const calling = client.me();
    const exchange = await server.next();
    expect(exchange.url).toBe("/v1/me");
    exchange.reply(200, {});
    await calling;
  });
});
