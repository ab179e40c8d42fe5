import { createServer as createHttpServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import type { StepContext } from "../../engine/node/step-context.ts";
import type { HttpAnswer, HttpData } from "./http-data.ts";
import { httpNodeWith } from "./http-node.ts";
import type { ResolveHost } from "./resolve-host.ts";

const open: Server[] = [];
const sockets = new Set<Socket>();
const loopback: ResolveHost = () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]);

async function listen(server: Server): Promise<number> {
  open.push(server);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}
const serve = (listener: RequestListener): Promise<number> => listen(createHttpServer(listener));
/** A server that writes exactly these bytes for every request. Node adds and corrects nothing. */
const serveRaw = (...parts: readonly (string | Buffer)[]): Promise<number> =>
  listen(
    createServer((socket) =>
      socket.once("data", () => {
        for (const part of parts) socket.write(part);
      }),
    ),
  );

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of open.splice(0)) await new Promise((resolve) => server.close(resolve));
});

interface Around {
  readonly allowHosts?: readonly string[];
  readonly resolve?: ResolveHost;
  readonly signal?: AbortSignal;
}
type Given = { readonly data: HttpAnswer; readonly nextHandle?: string };

async function call(port: number, data: Partial<HttpData> = {}, around: Around = {}): Promise<Given> {
  const { allowHosts = ["a.test", "b.test"], resolve = loopback, signal = new AbortController().signal } = around;
  const step = { idempotencyKey: "w/0#1", signal, now: () => Date.now() } as StepContext;
  return (await httpNodeWith({ allowHosts }, resolve).executor({ url: `http://a.test:${port}/`, ...data }, step)) as Given;
}
const allClosed = (): Promise<void> => expect.poll(() => sockets.size).toBe(0);
const forever: RequestListener = (_request, response) => {
  response.writeHead(200, { "content-type": "text/plain" });
  const write = (): void => {
    while (!response.destroyed && response.write("x".repeat(16_384)));
    if (!response.destroyed) response.once("drain", write);
  };
  write();
};

describe("the time of a call", () => {
  it.each<[string, RequestListener]>([
    ["no answer comes", () => undefined],
    ["the body does not end", (_request, response) => void response.writeHead(200, { "content-type": "text/plain" }).write("x")],
    [
      "redirects answer, and then nothing",
      (request, response) => void (request.url === "/" && response.writeHead(302, { location: "/x" }).end()),
    ],
  ])("is up where %s", async (_what, listener) => {
    const port = await serve(listener);
    await expect(call(port, { timeout: 80 })).rejects.toMatchObject({ code: "HTTP_TIMEOUT", message: expect.stringContaining("80 ms") });
    await expect(call(port, { timeout: 80 })).rejects.not.toHaveProperty("~fatal");
    await allClosed();
  });

  it("is up where the name is never found", async () => {
    await expect(call(1, { timeout: 50 }, { resolve: () => new Promise(() => undefined) })).rejects.toMatchObject({ code: "HTTP_TIMEOUT" });
  });

  it.each([0, "0s", "25 hours", 1e12])("cannot be %j", async (timeout) => {
    await expect(call(1, { timeout })).rejects.toMatchObject({ code: "HTTP_REQUEST_INVALID" });
  });

  it("cannot be what is no duration", async () => {
    await expect(call(1, { timeout: "soon" })).rejects.toMatchObject({ code: "DURATION_INVALID" });
  });
});

describe("a call that nobody waits for any more", () => {
  it("is not begun", async () => {
    const port = await serve((_request, response) => response.end());
    await expect(call(port, {}, { signal: AbortSignal.abort("cancelled") })).rejects.toMatchObject({ code: "HTTP_ABORTED" });
  });

  it.each(["before the answer", "amid the body"])("ends %s, and its connection with it", async (when) => {
    const controller = new AbortController();
    const port = await serve((_request, response) => {
      if (when === "amid the body") response.writeHead(200).write("x");
      setImmediate(() => controller.abort("cancelled"));
    });
    await expect(call(port, {}, { signal: controller.signal })).rejects.toMatchObject({ code: "HTTP_ABORTED", cause: "cancelled" });
    await allClosed();
  });
});

describe("the size of an answer", () => {
  const tooLarge = { code: "HTTP_TOO_LARGE", "~fatal": true };

  it("may be just as much as allowed", async () => {
    const port = await serve((_request, response) => response.end("x".repeat(100)));
    expect((await call(port, { maxBytes: 100 })).data.body).toHaveLength(100);
    await expect(call(port, { maxBytes: 99 })).rejects.toMatchObject(tooLarge);
  });

  it("is judged by the header before a byte is read", async () => {
    const port = await serveRaw("HTTP/1.1 200 OK\r\ncontent-length: 999999999999\r\n\r\n");
    await expect(call(port)).rejects.toMatchObject(tooLarge);
    await allClosed();
  });

  it("is not believed to be small because the header says so", async () => {
    const port = await serveRaw("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 3\r\n\r\n", "x".repeat(5_000_000));
    const outcome = await call(port, { maxBytes: 10 }).then(
      ({ data }) => data.body,
      (error: { code: string }) => error.code,
    );
    expect(["xxx", "HTTP_NETWORK"]).toContain(outcome);
    await allClosed();
  });

  it("is counted where an answer in chunks never ends, and the connection is closed", async () => {
    await expect(call(await serve(forever), { maxBytes: 100_000 })).rejects.toMatchObject(tooLarge);
    await allClosed();
  });

  it("counts for an answer of failure too", async () => {
    const port = await serve((_request, response) => response.writeHead(404).end("x".repeat(100)));
    await expect(call(port, { maxBytes: 99 })).rejects.toMatchObject(tooLarge);
  });

  it.each([
    ["gzip", gzipSync(Buffer.alloc(50_000_000))],
    ["br", brotliCompressSync(Buffer.alloc(50_000_000))],
  ])("counts after decompression: a bomb of %s is not unpacked", async (encoding, bomb) => {
    expect(bomb.length).toBeLessThan(100_000);
    const port = await serve((_request, response) =>
      response.writeHead(200, { "content-encoding": encoding, "content-type": "text/plain" }).end(bomb),
    );
    await expect(call(port)).rejects.toMatchObject(tooLarge);
    await allClosed();
  });

  it("does not matter for HEAD, whose answer has no body", async () => {
    const port = await serve((_request, response) =>
      response.writeHead(200, { "content-length": "99999999", "content-encoding": "gzip" }).end(),
    );
    expect((await call(port, { method: "HEAD" })).data).toMatchObject({
      status: 200,
      body: null,
      headers: { "content-length": "99999999" },
    });
  });
});

describe("the body of an answer", () => {
  it.each([
    ["gzip", gzipSync("hallo")],
    ["X-GZip", gzipSync("hallo")],
    ["br", brotliCompressSync("hallo")],
    ["deflate", deflateSync("hallo")],
    ["identity", Buffer.from("hallo")],
  ])("is unpacked from %s", async (encoding, bytes) => {
    const port = await serve((_request, response) =>
      response.writeHead(200, { "content-encoding": encoding, "content-type": "text/plain" }).end(bytes),
    );
    expect((await call(port)).data.body).toBe("hallo");
  });

  it("is refused in a compression that nobody knows", async () => {
    const port = await serve((_request, response) => response.writeHead(200, { "content-encoding": "gzip, gzip" }).end("x"));
    await expect(call(port)).rejects.toMatchObject({ code: "HTTP_BODY_UNREADABLE", "~fatal": true });
  });

  it.each<[string, readonly (string | Buffer)[]]>([
    ["damaged", ["HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\n", "oops"]],
    ["cut short", ["HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 12\r\n\r\n", gzipSync("hallo").subarray(0, 12)]],
  ])("is worth another attempt where it came %s", async (_what, parts) => {
    await expect(call(await serveRaw(...parts))).rejects.toMatchObject({ code: "HTTP_NETWORK" });
  });

  it("is worth another attempt where the connection broke", async () => {
    const port = await serve((_request, response) => {
      response.writeHead(200, { "content-length": "10" }).write("x");
      setImmediate(() => response.destroy());
    });
    await expect(call(port)).rejects.toMatchObject({ code: "HTTP_NETWORK" });
  });
});

describe("a network that fails", () => {
  it("is worth another attempt", async () => {
    const port = await serve(() => undefined);
    await new Promise((resolve) => open.splice(0)[0]!.close(resolve));
    await expect(call(port)).rejects.toMatchObject({ code: "HTTP_NETWORK", message: `GET http://a.test:${port} failed: ECONNREFUSED` });
    await expect(call(port)).rejects.not.toHaveProperty("~fatal");
  });

  it.each<[string, string]>([
    ["speaks another protocol", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["switches protocols unasked", "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"],
    ["sends headers without end", `HTTP/1.1 200 OK\r\n${"x-a: 1\r\n".repeat(10_000)}`],
    ["sends a header twice that must be one", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"],
  ])("is a service that %s", async (_what, text) => {
    await expect(call(await serveRaw(text), { timeout: 2_000 })).rejects.toMatchObject({ code: "HTTP_NETWORK" });
    await allClosed();
  });

  it("is a service that closes without an answer", async () => {
    const port = await serve((request) => request.socket.destroy());
    await expect(call(port)).rejects.toMatchObject({ code: "HTTP_NETWORK" });
  });

  it("is a service that does not speak TLS where https was said", async () => {
    const port = await serve((_request, response) => response.end());
    await expect(call(port, { url: `https://a.test:${port}/` })).rejects.toMatchObject({ code: "HTTP_NETWORK" });
  });

  it("is a name that is not found", async () => {
    const resolve: ResolveHost = () => Promise.reject(Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND" }));
    await expect(call(80, {}, { resolve })).rejects.toMatchObject({ code: "HTTP_NETWORK", message: expect.stringContaining("ENOTFOUND") });
  });
});

describe("a redirect", () => {
  it("is followed, with the method and body that it asks for", async () => {
    const seen: string[] = [];
    const port = await serve(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      seen.push(`${request.method} ${request.url} ${body}`);
      if (request.url === "/") response.writeHead(307, { location: "/moved" }).end();
      else if (request.url === "/moved") response.writeHead(303, { location: "done?x=1" }).end("ignored");
      else response.end("here");
    });
    expect((await call(port, { method: "POST", body: { text: "hi" } })).data.body).toBe("here");
    expect(seen).toEqual(["POST / hi", "POST /moved hi", "GET /done?x=1 "]);
  });

  it("is followed without reading its body, however long that is", async () => {
    const port = await serve((request, response) => {
      if (request.url === "/done") response.end("ok");
      else response.writeHead(302, { location: "/done" }).write("x".repeat(100_000));
    });
    expect((await call(port)).data.status).toBe(200);
    await allClosed();
  });

  it("takes no credentials to another origin", async () => {
    const seen: unknown[] = [];
    const target = await serve((request, response) => {
      seen.push(request.headers);
      response.end();
    });
    const port = await serve((request, response) => {
      seen.push(request.headers);
      response.writeHead(302, { location: request.url === "/" ? "/again" : `http://b.test:${target}/` }).end();
    });
    await call(port, { headers: { authorization: "Bearer s", cookie: "c=1", "x-api-key": "k" } });
    const secret = { authorization: "Bearer s", cookie: "c=1", "x-api-key": "k" };
    expect(seen.slice(0, 2)).toMatchObject([secret, secret]);
    expect(Object.keys(seen[2] as object).sort()).toEqual(["accept", "accept-encoding", "connection", "host", "user-agent"]);
  });

  it.each([
    [undefined, 6],
    [5, 6],
    [1, 2],
  ])("in a circle ends after followRedirects: %s", async (followRedirects, calls) => {
    let count = 0;
    const port = await serve((_request, response) => {
      count++;
      response.writeHead(302, { location: "/" }).end();
    });
    await expect(call(port, { followRedirects })).rejects.toMatchObject({ code: "HTTP_REDIRECT", "~fatal": true });
    expect(count).toBe(calls);
    await allClosed();
  });

  it("is an answer where none is to be followed", async () => {
    const port = await serve((_request, response) => response.writeHead(302, { location: "/x" }).end());
    expect(await call(port, { followRedirects: 0 })).toMatchObject({
      nextHandle: "fail",
      data: { status: 302, headers: { location: "/x" } },
    });
  });

  it.each([
    "http://127.0.0.1:PORT/",
    "http://inside.test:PORT/",
    "http://2130706433:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://169.254.169.254/",
  ])("to %s is refused, and nobody is called", async (location) => {
    let called = 0;
    const inside = await serve((_request, response) => {
      called++;
      response.end();
    });
    const port = await serve((_request, response) => response.writeHead(302, { location: location.replace("PORT", String(inside)) }).end());
    await expect(call(port)).rejects.toMatchObject({ code: "HTTP_ADDRESS_REFUSED", "~fatal": true });
    expect(called).toBe(0);
    await allClosed();
  });

  it("to a name is judged by the address that it has at that moment", async () => {
    const seen: string[] = [];
    const answers = ["127.0.0.1", "10.0.0.1"];
    const resolve: ResolveHost = (hostname) => {
      seen.push(hostname);
      return Promise.resolve([{ address: answers.shift()!, family: 4 }]);
    };
    const port = await serve((_request, response) => response.writeHead(302, { location: `http://b.test:${port}/` }).end());
    await expect(call(port, {}, { resolve, allowHosts: ["a.test"] })).rejects.toMatchObject({ code: "HTTP_ADDRESS_REFUSED" });
    expect(seen).toEqual(["a.test", "b.test"]);
  });
});
