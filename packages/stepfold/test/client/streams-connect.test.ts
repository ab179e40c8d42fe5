import { describe, expect, it, vi } from "vitest";
import { eventText, frameText, live, nextOf, setUp } from "./streams.fixture.ts";

type Made = Awaited<ReturnType<typeof setUp>>;
type Frames = ReturnType<Made["client"]["stream"]>;
type Exchange = Awaited<ReturnType<Made["server"]["next"]>>;

/** Lets the next connection of a stream fail, and returns how long the stream waits after it. */
async function pauseAfter({ server, time }: Made, frames: Frames, fail: (exchange: Exchange) => void, waitMs: number) {
  const frame = nextOf(frames);
  await time.advance(waitMs);
  fail(await server.next());
  const link = await frame;
  if (link.type !== "link" || link.againInMs === undefined) throw new Error(`no pause: ${JSON.stringify(link)}`);
  return { againInMs: link.againInMs, code: link.code };
}

describe("a stream without a connection", () => {
  it("waits twice as long after each failure, up to 15 seconds, and one second again once a frame has come", async () => {
    const made = await setUp();
    const frames = made.client.executions.watch("order-1");
    const pauses: number[] = [];
    const refuse = (exchange: Exchange): void => exchange.refuse(503, "STORE_UNAVAILABLE");
    for (let i = 0; i < 6; i++) pauses.push((await pauseAfter(made, frames, refuse, pauses.at(-1) ?? 0)).againInMs);
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);

    const again = nextOf(frames);
    await made.time.advance(15_000);
    const silent = (await made.server.next()).openStream();
    expect(await again).toMatchObject({ isLive: true });
    silent.cut();
    expect(await nextOf(frames)).toMatchObject({ isLive: false, againInMs: 15_000 });

    const later = nextOf(frames);
    await made.time.advance(15_000);
    const telling = (await made.server.next()).openStream();
    expect(await later).toMatchObject({ isLive: true });
    await telling.write(eventText("order-1", 0));
    expect(await nextOf(frames)).toMatchObject({ type: "event" });
    telling.cut();
    expect(await nextOf(frames)).toMatchObject({ isLive: false, againInMs: 1_000 });
    await frames.return();
  });

  it("connects exactly after the pause that it has told, which a random part shortens to the half at most", async () => {
    const made = await setUp();
    made.time.chance = 0;
    const frames = made.client.executions.watch("order-1");
    const { againInMs } = await pauseAfter(made, frames, (exchange) => exchange.cut(), 0);
    expect(againInMs).toBe(500);
    const again = nextOf(frames);
    await made.time.advance(499);
    expect(made.server.waitingCount).toBe(0);
    await made.time.advance(1);
    (await made.server.next()).openStream();
    expect(await again).toMatchObject({ isLive: true });
    await frames.return();
  });

  it.each([
    ["2500", 2_500, 5_000],
    ["0", 1_000, 2_000],
    ["99999999999999999999", 15_000, 15_000],
  ])("waits as long as the server says by retry (%s), between one second and 15", async (retry, first, second) => {
    const made = await setUp();
    const frames = made.client.executions.watch("order-1");
    const exchange = await live(frames, made.server);
    await exchange.write(`retry: ${retry}\n\n${frameText({ type: "problem", code: "STORE_UNAVAILABLE" })}`);
    expect(await nextOf(frames)).toMatchObject({ type: "problem" });
    exchange.cut();
    expect(await nextOf(frames)).toMatchObject({ isLive: false, againInMs: first });
    expect(await pauseAfter(made, frames, (next) => next.cut(), first)).toMatchObject({ againInMs: second });
    await frames.return();
  });

  it.each([
    ["7", 8_000],
    ["9999999", 301_000],
    ["soon", 1_000],
  ])("adds its pause to what the server says by retry-after (%s), of which it respects five minutes", async (header, againInMs) => {
    const made = await setUp();
    const frames = made.client.executions.watch("order-1");
    const type = "urn:stepfold:server-error:RATE_LIMITED";
    const fail = (exchange: Exchange): void => exchange.refuse(429, "RATE_LIMITED", { type }, { "retry-after": header });
    expect(await pauseAfter(made, frames, fail, 0)).toEqual({ againInMs, code: "RATE_LIMITED" });
    await frames.return();
  });

  it.each([408, 425, 429, 500, 502, 503])("goes on after the status %i, also if it comes with a page of a proxy", async (status) => {
    const made = await setUp();
    const frames = made.client.executions.watch("order-1");
    const page = (exchange: Exchange): void => exchange.reply(status, "<html>", { "content-type": "text/html" });
    expect(await pauseAfter(made, frames, page, 0)).toEqual({ againInMs: 1_000, code: "UNEXPECTED_ANSWER" });
    const refuse = (exchange: Exchange): void => exchange.refuse(status, "STORE_UNAVAILABLE");
    expect(await pauseAfter(made, frames, refuse, 1_000)).toEqual({ againInMs: 2_000, code: "STORE_UNAVAILABLE" });
    await frames.return();
  });

  it.each([400, 401, 403, 404, 410])("ends with the error of the status %i", async (status) => {
    const { server, client, time } = await setUp();
    const frames = client.executions.watch("order-1");
    const failing = frames.next().catch((error: unknown) => error);
    (await server.next()).refuse(status, "OPTION_UNKNOWN");
    expect(await failing).toMatchObject({ name: "RequestError", code: "OPTION_UNKNOWN", status });
    expect(await frames.next()).toEqual({ done: true, value: undefined });
    expect(time.activeTimers).toBe(0);
  });

  it("ends with an error if what comes is no stream", async () => {
    const { server, client } = await setUp();
    const frames = client.executions.watch("order-1");
    const failing = frames.next().catch((error: unknown) => error);
    (await server.next()).reply(200, "<html>", { "content-type": "text/html" });
    expect(await failing).toMatchObject({ code: "UNEXPECTED_ANSWER", status: 200, details: { text: "<html>" } });
  });

  it.each(["data: {", "data: 7", "data: null", "data:"])("ends with an error if what comes is no frame: %s", async (line) => {
    const { server, client, time } = await setUp();
    const frames = client.executions.watch("order-1");
    const exchange = await live(frames, server);
    await exchange.write(`${line}\n\n`);
    await expect(frames.next()).rejects.toMatchObject({ code: "UNEXPECTED_ANSWER", retryable: false });
    await exchange.closed;
    expect(time.activeTimers).toBe(0);
  });

  it("ends with an error if a frame is longer than 16 MiB", async () => {
    const { server, client } = await setUp();
    const frames = client.executions.watch("order-1");
    const exchange = await live(frames, server);
    const failing = frames.next().catch((error: unknown) => error);
    const part = "x".repeat(1024 * 1024);
    const writing = (async () => {
      await exchange.write("data: ");
      while (!exchange.isClosed) await Promise.race([exchange.write(part), exchange.closed]);
    })().catch(() => undefined);
    expect(await failing).toMatchObject({ code: "UNEXPECTED_ANSWER" });
    await exchange.closed;
    await writing;
  });
});

describe("a connection that is silent", () => {
  it("for 40 seconds is cut, and the stream connects again; a comment is no silence", async () => {
    const { server, client, time } = await setUp();
    const frames = client.executions.watch("order-1");
    const exchange = await live(frames, server);
    const pending = nextOf(frames);
    for (let i = 0; i < 3; i++) {
      await time.advance(39_000);
      const timers = time.startedTimers;
      await exchange.write(": beat\n\n");
      // each chunk that is read begins a new time of silence
      await vi.waitFor(() => expect(time.startedTimers).toBe(timers + 1));
    }
    await time.advance(39_999);
    expect(exchange.isClosed).toBe(false);
    await time.advance(1);
    await exchange.closed;
    expect(await pending).toEqual({ type: "link", isLive: false, againInMs: 1_000, code: "CONNECTION_LOST" });
    const again = nextOf(frames);
    await time.advance(1_000);
    (await server.next()).openStream();
    expect(await again).toEqual({ type: "link", isLive: true });
    await frames.return();
  });

  it("before it has answered is cut too", async () => {
    const { server, client, time } = await setUp();
    const frames = client.executions.watch("order-1");
    const pending = nextOf(frames);
    const exchange = await server.next();
    await time.advance(40_000);
    await exchange.closed;
    expect(await pending).toMatchObject({ type: "link", isLive: false, code: "CONNECTION_LOST" });
    await frames.return();
  });
});
