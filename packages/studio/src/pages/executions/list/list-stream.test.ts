import type { ListedExecution } from "stepfold/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { arrived, clock, close, ListServer, news, openList, page, row, shown } from "../../../../test/list.fixture.ts";
import { noon } from "../../../../test/rows.fixture.ts";

describe("rows of which the stream does not tell", () => {
  /** Two pages of a hundred rows, and looks at them when the test says so. */
  async function twoPages(given: Partial<ListedExecution> = {}) {
    const server = new ListServer();
    const all = Array.from({ length: 200 }, (_, index) => row(1_000 - index, given));
    server.pages.set(undefined, page(all.slice(0, 100), { nextCursor: "c1" }));
    server.pages.set("c1", page(all.slice(100)));
    vi.useFakeTimers({ toFake: ["setInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const model = await openList(server);
    await model.loadMore();
    server.send(news([]));
    await new Promise((resolve) => setImmediate(resolve));
    server.asked.splice(0);
    const look = async (): Promise<void> => {
      vi.advanceTimersByTime(5_000);
      await new Promise((resolve) => setImmediate(resolve));
    };
    return { server, model, all, look };
  }

  test("only those in view are read again, with one request", async () => {
    const { server, model, all, look } = await twoPages();
    await look();
    expect(server.asked).toEqual([]);
    model.see(150, 180);
    server.pages.set(undefined, page(all.slice(150).map((one) => ({ ...one, version: 2, status: "paused" }))));
    await look();
    expect(server.asked).toEqual([{ createdBefore: all[150]!.createdAt + 1, limit: 100 }]);
    expect(model.getState().rows.map(({ row: { version } }) => version)).toEqual(all.map((_, index) => (index < 150 ? 1 : 2)));
    model.see(0, 90);
    await look();
    expect(server.asked).toHaveLength(1);
  });

  test("rows that were pushed behind the first page by new ones are read again too", async () => {
    const { server, model, look } = await twoPages();
    server.send(news([row(2_000), row(2_001)]));
    await vi.waitFor(() => expect(arrived(model)).toHaveLength(2));
    model.see(60, 98);
    await look();
    expect(server.asked).toEqual([]);
    model.see(60, 99);
    await look();
    expect(server.asked).toHaveLength(1);
  });

  test("a row whose time has come since it was told is read again", async () => {
    const { server, model, look } = await twoPages({ wakeAt: noon + 4_000 });
    model.see(0, 30);
    clock.now = noon + 3_900;
    await look();
    expect(server.asked).toEqual([]);
    clock.now = noon + 4_000;
    server.pages.set(undefined, page([row(1_000, { version: 2, wakeAt: noon + 60_000 })], { storeNow: clock.now }));
    await look();
    expect(server.asked).toHaveLength(1);
    expect(model.getState().rows[0]).toMatchObject({ row: { version: 2 }, toldAt: noon + 4_000 });
  });
});

describe("the connection", () => {
  test("the stream is asked only what it knows", async () => {
    const server = new ListServer();
    server.pages.set(undefined, page([]));
    await openList(server, { status: "failed", q: "card", node: "charge", error: "X", order: "oldest" });
    expect(server.streams[0]?.query).toEqual({ list: { status: "failed" } });
  });

  test("a broken connection is shown with the last news and the next try", async () => {
    const server = new ListServer();
    server.pages.set(undefined, page([]));
    const model = await openList(server);
    server.send({ type: "link", isLive: true });
    server.send({ type: "link", isLive: false, againInMs: 4_000, code: "CONNECTION_LOST" });
    await vi.waitFor(() => expect(model.getState().link).toMatchObject({ isLive: false, lastNewsAt: noon, againAt: noon + 4_000 }));
  });

  test("a try now begins another connection and ends the old one", async () => {
    const server = new ListServer();
    server.pages.set(undefined, page([]));
    const model = await openList(server);
    model.tryNow();
    await vi.waitFor(() => expect(server.streams).toHaveLength(2));
    expect(server.streams[0]?.signal.aborted).toBe(true);
    expect(server.streams[1]?.signal.aborted).toBe(false);
  });

  test("when it lives again, a list that could not be loaded is loaded", async () => {
    const server = new ListServer();
    server.pages.set(undefined, Object.assign(new Error("lost"), { code: "CONNECTION_LOST" }));
    const model = await openList(server);
    server.pages.set(undefined, page([row(1)]));
    server.send({ type: "link", isLive: true });
    await vi.waitFor(() => expect(shown(model)).toEqual(["order-1"]));
  });

  test("a store that does not answer is told until news come", async () => {
    const server = new ListServer();
    server.pages.set(undefined, page([row(1)]));
    const model = await openList(server);
    server.send({ type: "problem", code: "STORE_UNAVAILABLE" });
    await vi.waitFor(() => expect(model.getState().problem).toBe("STORE_UNAVAILABLE"));
    server.send(news([]));
    await vi.waitFor(() => expect(model.getState().problem).toBeNull());
  });

  test("while a proxy collects the stream, the first page is read again and again", async () => {
    const server = new ListServer();
    server.pages.set(undefined, page([row(1)]));
    const model = await openList(server);
    vi.useFakeTimers({ toFake: ["setInterval"] });
    close.pop()!();
    close.push(model.open());
    server.send({ type: "link", isLive: true });
    await vi.waitFor(() => expect(model.getState().link.isLive).toBe(true));
    server.pages.set(undefined, page([row(2), row(1, { status: "failed", version: 2 })]));
    const asked = server.asked.length;
    vi.advanceTimersByTime(10_000);
    await vi.waitFor(() => expect(arrived(model)).toEqual(["order-2"]));
    expect(model.getState().rows[0]?.row.status).toBe("failed");
    // once the stream tells something, it is enough
    server.send(news([]));
    await vi.waitFor(() => expect(model.getState().problem).toBeNull());
    await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(30_000);
    vi.useRealTimers();
    await new Promise((resolve) => setImmediate(resolve));
    expect(server.asked).toHaveLength(asked + 1);
  });

  test("closing ends the stream", async () => {
    const server = new ListServer();
    server.pages.set(undefined, page([]));
    await openList(server);
    close.pop()!();
    expect(server.streams[0]?.signal.aborted).toBe(true);
  });
});
