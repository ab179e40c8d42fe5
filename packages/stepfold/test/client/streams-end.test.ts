import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { eventText, live, nextOf, setUp } from "./streams.fixture.ts";

const done = { done: true, value: undefined };

describe("a stream whose signal is aborted", () => {
  it("ends while it waits for a frame, and the request ends at once", async () => {
    const { server, client, time } = await setUp();
    const abort = new AbortController();
    const frames = client.executions.watch("order-1", { signal: abort.signal });
    const exchange = await live(frames, server);
    const pending = frames.next();
    abort.abort();
    expect(await pending).toEqual(done);
    await exchange.closed;
    expect(time.activeTimers).toBe(0);
    expect(getEventListeners(abort.signal, "abort")).toEqual([]);
  });

  it("ends while the server has not answered", async () => {
    const { server, client, time } = await setUp();
    const abort = new AbortController();
    const frames = client.executions.watch("order-1", { signal: abort.signal });
    const pending = frames.next();
    const exchange = await server.next();
    abort.abort();
    expect(await pending).toEqual(done);
    await exchange.closed;
    expect(time.activeTimers).toBe(0);
  });

  it("ends while it waits for the next connection", async () => {
    const { server, client, time } = await setUp();
    const abort = new AbortController();
    const frames = client.executions.watch("order-1", { signal: abort.signal });
    const lost = nextOf(frames);
    (await server.next()).cut();
    await lost;
    const pending = frames.next();
    await time.settle();
    abort.abort();
    expect(await pending).toEqual(done);
    expect(time.activeTimers).toBe(0);
    expect(server.waitingCount).toBe(0);
  });

  it("ends while the consumer looks at a frame: what has come with it is not told any more", async () => {
    const { server, client } = await setUp();
    const abort = new AbortController();
    const frames = client.executions.watch("order-1", { signal: abort.signal });
    const exchange = await live(frames, server);
    await exchange.write(eventText("order-1", 0) + eventText("order-1", 1));
    await nextOf(frames);
    abort.abort();
    await exchange.closed;
    expect(await frames.next()).toEqual(done);
  });

  it("makes no request if the signal was aborted before", async () => {
    const { server, client, time } = await setUp();
    const frames = client.executions.watch("order-1", { signal: AbortSignal.abort() });
    expect(await frames.next()).toEqual(done);
    expect(server.waitingCount).toBe(0);
    expect(time.startedTimers).toBe(0);
  });
});

describe("a stream whose loop is left", () => {
  it("ends its request at once, and forgets the signal", async () => {
    const { server, client, time } = await setUp();
    const { signal } = new AbortController();
    const serving = server.next().then(async (exchange) => {
      await exchange.openStream().write(eventText("order-1", 0) + eventText("order-1", 1));
      return exchange;
    });
    const seen: string[] = [];
    for await (const frame of client.executions.watch("order-1", { signal })) {
      seen.push(frame.type);
      if (frame.type === "event") break;
    }
    expect(seen).toEqual(["link", "event"]);
    await (await serving).closed;
    expect(time.activeTimers).toBe(0);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("by an error ends in the same way", async () => {
    const { server, client, time } = await setUp();
    const frames = client.executions.watch("order-1");
    const exchange = await live(frames, server);
    await exchange.write(eventText("order-1", 0));
    await nextOf(frames);
    await expect(frames.throw(new RangeError("mine"))).rejects.toThrow(new RangeError("mine"));
    await exchange.closed;
    expect(time.activeTimers).toBe(0);
  });

  it("while it waits for a frame ends as well: return does not wait for the next frame", async () => {
    const { server, client, time } = await setUp();
    const frames = client.executions.watch("order-1");
    const exchange = await live(frames, server);
    const pending = frames.next();
    expect(await frames.return()).toEqual(done);
    expect(await pending).toEqual(done);
    await exchange.closed;
    expect(time.activeTimers).toBe(0);
  });

  it("while it waits for an answer, or for the next connection, ends as well", async () => {
    const { server, client, time } = await setUp();
    const connecting = client.executions.watch("order-1");
    const first = connecting.next();
    const exchange = await server.next();
    await connecting.return();
    expect(await first).toEqual(done);
    await exchange.closed;

    const pausing = client.executions.watch("order-1");
    const lost = nextOf(pausing);
    (await server.next()).cut();
    await lost;
    const pending = pausing.next();
    await pausing.return();
    expect(await pending).toEqual(done);
    expect(time.activeTimers).toBe(0);
    expect(server.waitingCount).toBe(0);
  });

  it("at the frame that tells of the pause ends the pause", async () => {
    const { server, client, time } = await setUp();
    const frames = client.executions.watch("order-1");
    const lost = nextOf(frames);
    (await server.next()).cut();
    await lost;
    expect(time.activeTimers).toBe(1);
    await frames.return();
    await time.settle();
    expect(time.activeTimers).toBe(0);
  });

  it("before it has begun makes no request", async () => {
    const { server, client } = await setUp();
    const frames = client.executions.watch("order-1");
    expect(await frames.return()).toEqual(done);
    expect(await frames.next()).toEqual(done);
    expect(server.waitingCount).toBe(0);
  });

  it("ends a response that was made in this process and knows no signal", async () => {
    let isCancelled = false;
    const body = new ReadableStream({
      cancel() {
        isCancelled = true;
      },
    });
    const headers = { "content-type": "text/event-stream; charset=utf-8" };
    const client = createClient({ url: "", fetch: async () => new Response(body, { headers }) });
    const frames = client.executions.watch("order-1");
    expect(await nextOf(frames)).toEqual({ type: "link", isLive: true });
    const pending = frames.next();
    await frames.return();
    expect(await pending).toEqual(done);
    expect(isCancelled).toBe(true);
  });

  it("is disposed of by `await using`", async () => {
    const { server, client } = await setUp();
    const frames = client.executions.watch("order-1");
    const exchange = await live(frames, server);
    await frames[Symbol.asyncDispose]();
    await exchange.closed;
  });
});
