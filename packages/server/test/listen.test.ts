import { connect } from "node:net";
import { createClient } from "stepfold/client";
import { createRuntime } from "stepfold/runtime";
import { memoryStore } from "stepfold/stores/memory";
import { expect, it, onTestFinished } from "vitest";
import { createServer, type Server } from "../src/index.ts";
import { type Listening, listen } from "../src/node/index.ts";
import { served, tokenOf } from "./served.fixture.ts";

async function listening(server: Server): Promise<Listening> {
  const { Request, Response } = globalThis;
  const made = await listen(server, { port: 0 });
  expect([globalThis.Request, globalThis.Response]).toEqual([Request, Response]);
  onTestFinished(() => made.close());
  return made;
}

/** Sends bytes as they are, and returns what comes back until the server ends the connection. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let got = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.setTimeout(10_000, () => socket.destroy(new Error("the server did not end the connection")));
    socket.on("data", (chunk) => {
      got += chunk.toString();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(got));
  });
}

const unguarded = (): Server => {
  const store = memoryStore();
  return createServer({ runtime: createRuntime({ store, drive: false }), store, auth: "off" });
};

it("serves the API on loopback, and ends streams when it closes", async () => {
  const { server, runtime } = await served();
  const { url, port, close } = await listening(server);
  expect(url).toBe(`http://127.0.0.1:${port}`);
  const client = createClient({ url, token: tokenOf("ada") });
  expect((await client.me()).id).toBe("ada");
  await client.executions.start({ workflow: "double", id: "a", input: { n: 1 } });
  await (await runtime.get("a")).result();
  const ended: string[] = [];
  const watching = (async () => {
    for await (const frame of client.executions.watch("a")) {
      if (frame.type === "link") ended.push(frame.isLive ? "live" : "lost");
      if (ended.includes("lost")) break;
      if (frame.type === "head") void close();
    }
  })();
  await watching;
  expect(ended).toEqual(["live", "lost"]);
  await close();
  await expect(client.me()).rejects.toMatchObject({ code: "CONNECTION_LOST", retryable: true });
});

it.each(["0.0.0.0", "::", "192.168.1.7", "example.com"])("refuses to listen on %s without auth", async (host) => {
  await expect(listen(unguarded(), { host, port: 0 })).rejects.toMatchObject({ code: "OPTION_INVALID", details: { option: "host" } });
});

it("may listen on loopback without auth, and answers under no other name", async () => {
  const { url, port } = await listening(unguarded());
  expect((await (await fetch(`${url}/v1/me`)).json()) as object).toMatchObject({ id: "local" });
  const evil = await raw(port, "GET /v1/me HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
  expect(evil).toMatch(/^HTTP\/1.1 421 /);
  const page = await raw(
    port,
    `GET /v1/me HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nOrigin: https://evil.example\r\nConnection: close\r\n\r\n`,
  );
  expect(page).toMatch(/^HTTP\/1.1 403 /);
});

it.each([
  [{ port: -1 }, "port"],
  [{ port: 70_000 }, "port"],
  [{ port: 1.5 }, "port"],
  [{ host: "" }, "host"],
])("refuses %j", async (options, option) => {
  await expect(listen(unguarded(), options)).rejects.toMatchObject({ code: "OPTION_INVALID", details: { option } });
});

it("says that a port is taken", async () => {
  const { port } = await listening(unguarded());
  await expect(listen(unguarded(), { port })).rejects.toMatchObject({
    code: "OPTION_INVALID",
    message: expect.stringContaining("EADDRINUSE"),
  });
});

it.each([
  "/v1/executions/..%2f..%2fetc/passwd",
  "/v1/executions/%00",
  "//evil.example/v1/me",
  "/v1//me",
  "/v1/executions/a%2fb/events",
  "/v1/executions/../me",
  "/v1/executions/%2e%2E/me",
  "/v1/./me",
  "/v1/me/.",
  "/..",
])("refuses the path %s as it comes over the wire", async (path) => {
  const { server } = await served();
  const { port } = await listening(server);
  const got = await raw(
    port,
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokenOf("ada")}\r\nConnection: close\r\n\r\n`,
  );
  expect(got).toMatch(/^HTTP\/1.1 4\d\d /);
});

it("stops reading a body in chunks that is too large", async () => {
  const { server } = await served();
  const { port } = await listening(server);
  const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
  const head = `POST /v1/executions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokenOf("ada")}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`;
  const got = await raw(port, `${head}${chunk.repeat(40)}0\r\n\r\n`).catch((error: unknown) => String(error));
  expect(got).toMatch(/413|ECONNRESET|EPIPE/);
  expect((await fetch(`http://127.0.0.1:${port}/v1/health`)).status).toBe(200);
});

it("refuses options that do not exist or do not fit together", () => {
  const store = memoryStore();
  const runtime = createRuntime({ store, drive: false });
  const make = (options: object) => () => createServer({ runtime, store, auth: "off", ...options } as never);
  expect(make({ tokens: [] })).toThrow(expect.objectContaining({ code: "OPTION_UNKNOWN" }));
  for (const options of [
    { auth: undefined },
    { auth: "none" },
    { runtime: {} },
    { store: null },
    { hosts: ["a.example"] },
    { cors: { origins: ["https://a.example"] } },
    { live: {} },
    { maxRequestsPerMinute: 0 },
  ])
    expect(make(options), JSON.stringify(options)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
});
