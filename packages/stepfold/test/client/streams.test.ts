import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { tries } from "../../../../scripts/test/effort.ts";
import type { PositionedFrame } from "../../src/client/index.ts";
import { eventText, frameText, live, nextOf, setUp } from "./streams.fixture.ts";

const head = { type: "head", execution: "order-1", view: { status: "paused", version: 1 } };

describe("a stream", () => {
  it("yields what the server tells, with the position of each frame, in one request", async () => {
    const { server, client } = await setUp();
    const query = { executions: ["order-1", "a/b"], list: { status: ["failed", "error"], metadata: { no: 7 } }, view: "brief" } as const;
    const frames = client.stream(query);
    const exchange = await live(frames, server);
    expect(exchange.method).toBe("GET");
    expect(exchange.url).toBe("/v1/stream?status=failed%2Cerror&meta.no=7&list=1&execution=order-1&execution=a%2Fb&view=brief");
    expect(exchange.headers).toMatchObject({ accept: "text/event-stream", authorization: "Bearer secret" });
    expect(exchange.headers).not.toHaveProperty("last-event-id");
    const list = { type: "list", upsert: [], gone: ["x"], storeNow: 5 };
    const problem = { type: "problem", code: "STORE_UNAVAILABLE" };
    await exchange.write(frameText(list) + eventText("a/b", 0) + frameText(head) + frameText(problem));
    expect(await nextOf(frames)).toEqual(list);
    expect(await nextOf(frames)).toEqual({ type: "event", execution: "a/b", event: { version: 0, type: "resumed" }, id: "0:0" });
    expect(await nextOf(frames)).toEqual({ ...head, id: "0:0" });
    expect(await nextOf(frames)).toEqual({ ...problem, id: "0:0" });
    await frames.return();
  });

  it("of a list asks for the list alone", async () => {
    const { server, client } = await setUp();
    const frames = client.executions.watchList({ workflow: "order" });
    expect((await live(frames, server)).url).toBe("/v1/stream?workflow=order&list=1");
    await frames.return();
    const all = client.executions.watchList();
    expect((await live(all, server)).url).toBe("/v1/stream?list=1");
    await all.return();
  });

  it("takes the type of a frame from the event if the data has none", async () => {
    const { server, client } = await setUp();
    const frames = client.executions.watch("order-1");
    const exchange = await live(frames, server);
    await exchange.write(`event: head\ndata: ${JSON.stringify({ execution: "order-1", view: {} })}\n\n`);
    expect(await nextOf(frames)).toEqual({ type: "head", execution: "order-1", view: {} });
    await frames.return();
  });

  it("begins behind the frame whose position is given", async () => {
    const { server, client } = await setUp();
    const frames = client.executions.watch("order-1", { after: "0:41" });
    const exchange = await live(frames, server);
    expect(exchange.headers["last-event-id"]).toBe("0:41");
    await frames.return();
  });

  it("goes on behind the last whole frame after a cut in the middle of the next one", async () => {
    const { server, client, time } = await setUp();
    const frames = client.executions.watch("order-1");
    const first = await live(frames, server);
    const [whole, broken] = [eventText("order-1", 1), eventText("order-1", 2, { note: "é" })];
    await first.write(whole + broken.slice(0, -2));
    expect(await nextOf(frames)).toMatchObject({ event: { version: 1 } });
    first.cut();
    expect(await nextOf(frames)).toEqual({ type: "link", isLive: false, againInMs: 1_000, code: "CONNECTION_LOST" });
    const again = nextOf(frames);
    await time.advance(1_000);
    const second = (await server.next()).openStream();
    expect(second.url).toBe(first.url);
    expect(second.headers["last-event-id"]).toBe("0:1");
    expect(await again).toEqual({ type: "link", isLive: true });
    await second.write(broken);
    expect(await nextOf(frames)).toMatchObject({ event: { version: 2, note: "é" }, id: "0:2" });
    await frames.return();
  });

  it("comes back after the server has ended the response", async () => {
    const { server, client, time } = await setUp();
    const frames = client.executions.watch("order-1");
    (await live(frames, server)).end();
    expect(await nextOf(frames)).toMatchObject({ type: "link", isLive: false, code: "CONNECTION_LOST" });
    const again = nextOf(frames);
    await time.advance(1_000);
    (await server.next()).openStream();
    expect(await again).toMatchObject({ isLive: true });
    await frames.return();
  });

  it("drops events that were told before, of each execution by itself, until it is told that they are void", async () => {
    const { server, client } = await setUp();
    const frames = client.stream({ executions: ["a", "b"] });
    const exchange = await live(frames, server);
    const reset = frameText({ type: "reset", execution: "a", reason: "replaced" });
    await exchange.write(
      [
        ...[eventText("a", 0), eventText("a", 1), eventText("a", 1), eventText("a", 0), eventText("b", 0), eventText("b", 5)],
        ...[reset, eventText("a", 0), eventText("b", 5), eventText("a", 0), eventText("a", 7), frameText({ ...head, execution: "a" })],
      ].join(""),
    );
    const seen: unknown[] = [];
    for (;;) {
      const frame = await nextOf(frames);
      seen.push(frame.type === "event" ? `${frame.execution}${frame.event.version}` : frame.type);
      if (frame.type === "head") break;
    }
    expect(seen).toEqual(["a0", "a1", "b0", "b5", "reset", "a0", "a7", "head"]);
    await frames.return();
  });

  it("drops what is told of executions that are not followed", async () => {
    const { server, client } = await setUp();
    const frames = client.executions.watch("order-1");
    const exchange = await live(frames, server);
    const others = [
      eventText("x", 0),
      frameText({ type: "reset", execution: "x" }),
      eventText("x", 0),
      frameText({ type: "end", execution: "x" }),
    ];
    await exchange.write(others.join("") + frameText({ type: "event", execution: "order-1" }) + eventText("order-1", 0));
    expect(await nextOf(frames)).toMatchObject({ type: "event", execution: "order-1", event: { version: 0 } });
    await frames.return();
  });

  it("ends when no execution is left, and goes on for a list", async () => {
    const { server, client } = await setUp();
    const gone = (execution: string): string => frameText({ type: "end", execution, reason: "gone" });
    const frames = client.stream({ executions: ["a", "b"] });
    const exchange = await live(frames, server);
    await exchange.write(gone("a") + gone("a") + gone("b"));
    expect(await nextOf(frames)).toMatchObject({ type: "end", execution: "a" });
    expect(await nextOf(frames)).toMatchObject({ type: "end", execution: "b" });
    expect(await frames.next()).toEqual({ done: true, value: undefined });
    await exchange.closed;

    const withList = client.stream({ executions: ["a"], list: {} });
    const second = await live(withList, server);
    await second.write(gone("a") + frameText({ type: "list", upsert: [], gone: [], storeNow: 1 }));
    expect(await nextOf(withList)).toMatchObject({ type: "end" });
    expect(await nextOf(withList)).toMatchObject({ type: "list" });
    await withList.return();
  });
});

describe("a consumer", () => {
  it("that is slow slows the server down, and misses nothing; the time that it takes is no silence", async () => {
    const { server, client, time } = await setUp();
    const frames = client.executions.watch("order-1");
    const exchange = await live(frames, server);
    const count = 512;
    const note = "x".repeat(64 * 1024);
    let written = 0;
    const writing = (async () => {
      for (; written < count; written++) await exchange.write(eventText("order-1", written, { note }));
    })();
    // the server cannot get rid of all of it: what it has written stays the same for a while
    let before = -1;
    await vi.waitFor(
      () => {
        const isSame = written === before;
        before = written;
        expect(isSame && written > 0).toBe(true);
      },
      { interval: 300, timeout: 20_000 },
    );
    expect(written).toBeLessThan(count / 2);
    expect(time.activeTimers).toBe(0);
    await time.advance(3_600_000);
    expect(exchange.isClosed).toBe(false);
    for (let version = 0; version < count; version++) expect(await nextOf(frames)).toMatchObject({ type: "event", event: { version } });
    await writing;
    await frames.return();
  });

  it("sees every event once and in order, wherever connections break and whatever is told again", async () => {
    const last = 25;
    const cuts = fc.array(fc.record({ bytes: fc.nat(2_000), repeated: fc.nat(5), isClean: fc.boolean() }), { maxLength: 8 });
    const property = fc.asyncProperty(cuts, fc.nat(40), async (connections, chunkBytes) => {
      const { server, client, time } = await setUp();
      const frames = client.executions.watch("order-1");
      const serving = (async () => {
        for (const connection of [...connections, { bytes: Number.POSITIVE_INFINITY, repeated: 3, isClean: true }]) {
          const exchange = await server.next();
          const position = exchange.headers["last-event-id"];
          const from = position === undefined ? 0 : Number(String(position).split(":")[1]) + 1;
          const events = Array.from({ length: last + 1 }, (_, version) => eventText("order-1", version, { note: "é😀" }));
          const bytes = Buffer.from(events.slice(Math.max(0, from - connection.repeated)).join("")).subarray(0, connection.bytes);
          exchange.openStream();
          for (let at = 0; at < bytes.length; at += chunkBytes + 10) await exchange.write(bytes.subarray(at, at + chunkBytes + 10));
          // a stream that has told all stays open
          if (bytes.length < connection.bytes) return;
          if (connection.isClean) exchange.end();
          else exchange.cut();
        }
      })();
      const versions: number[] = [];
      while (versions.at(-1) !== last) {
        const frame: PositionedFrame = await nextOf(frames);
        if (frame.type === "event") versions.push(frame.event.version);
        if (frame.type === "link" && frame.againInMs !== undefined) await time.advance(frame.againInMs);
      }
      expect(versions).toEqual(Array.from({ length: last + 1 }, (_, version) => version));
      await frames.return();
      await server.close();
      await serving;
    });
    await fc.assert(property, { numRuns: tries(60) });
  });
});
