import { createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectDynamo } from "../../../src/stores/from-url/connect-dynamo.ts";
import { connectLibsql } from "../../../src/stores/from-url/connect-libsql.ts";
import { connectMongo } from "../../../src/stores/from-url/connect-mongo.ts";
import { connectUpstash } from "../../../src/stores/from-url/connect-upstash.ts";

/** A server that takes connections and never answers, like a server behind a firewall that has lost its connections. */
let server: Server;
let host = "";
const sockets = new Set<Socket>();
beforeAll(async () => {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.resume();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  host = `127.0.0.1:${(server.address() as { port: number }).port}`;
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

describe("AUDIT: a server that takes the connection and never answers", () => {
  it.each([
    ["MongoDB", () => connectMongo(`mongodb://${host}/app`, 300)],
    ["DynamoDB", () => connectDynamo(`dynamodb://eu-central-1/app?endpoint=http://${host}`, 300)],
    ["libSQL over HTTP", () => connectLibsql(`libsql:http://${host}`, 300)],
    ["Upstash", () => connectUpstash(`upstash:http://${host}?token=t`, 300)],
  ])("%s: the client of a URL gives the call up", async (_name, connect) => {
    const site = await connect();
    const store = await site.open(site.space, {});
    await expect(store.load("a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await store.close();
    await site.close();
  });

  it("leaves a limit of MongoDB that the URL names as it is", async () => {
    const site = await connectMongo(`mongodb://${host}/app?socketTimeoutMS=50&serverSelectionTimeoutMS=60`, 60_000);
    const store = await site.open(site.space, {});
    await expect(store.load("a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", message: expect.stringContaining("60 ms") });
    await site.close();
  });
});
