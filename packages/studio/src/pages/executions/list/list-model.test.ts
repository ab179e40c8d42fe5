import type { ExecutionPage } from "stepfold/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { arrived, clock, close, ListServer, news, openList, page, row, shown } from "../../../../test/list.fixture.ts";
import { noon } from "../../../../test/rows.fixture.ts";
import { ListModel } from "./list-model.ts";

describe("a list that is open", () => {
  test("rows change where they are, also when they no longer match", async () => {
    const server = new ListServer();
    server.pages.set(undefined, page([row(3), row(2), row(1)]));
    const model = await openList(server, { status: "active" });
    server.send(news([row(2, { status: "failed", version: 2 })]));
    await vi.waitFor(() => expect(model.getState().rows[1]).toMatchObject({ row: { status: "failed" }, isMatch: false }));
    expect(shown(model)).toEqual(["order-3", "order-2", "order-1"]);
  });

  test("new rows wait until they are asked for; then what no longer matches goes", async () => {
    const server = new ListServer();
    server.pages.set(undefined, page([row(2), row(1)]));
    const model = await openList(server, { status: "active" });
    server.send(news([row(4), row(3), row(1, { status: "completed", version: 9 }), row(5, { status: "failed" })]));
    await vi.waitFor(() => expect(arrived(model)).toEqual(["order-4", "order-3"]));
    expect(shown(model)).toEqual(["order-2", "order-1"]);
    model.showArrived();
    expect(shown(model)).toEqual(["order-4", "order-3", "order-2"]);
    expect(arrived(model)).toEqual([]);
  });

  test("in a list without rows new ones are shown at once, and wait from then on", async () => {
    const server = new ListServer();
    server.pages.set(undefined, page([]));
    const model = await openList(server, { status: "active" });
    server.send(news([row(1), row(2), row(3, { status: "failed" })]));
    await vi.waitFor(() => expect(shown(model)).toEqual(["order-2", "order-1"]));
    expect(arrived(model)).toEqual([]);
    server.send(news([row(4)]));
    await vi.waitFor(() => expect(arrived(model)).toEqual(["order-4"]));
    expect(shown(model)).toEqual(["order-2", "order-1"]);
  });

  test("a new row that no longer matches before it is seen is not counted", async () => {
    const server = new ListServer();
    server.pages.set(undefined, page([row(1)]));
    const model = await openList(server, { status: "active" });
    server.send(news([row(2)]));
    await vi.waitFor(() => expect(arrived(model)).toEqual(["order-2"]));
    server.send(news([row(2, { status: "completed", version: 2 })]));
    await vi.waitFor(() => expect(arrived(model)).toEqual([]));
  });

  test("a deleted execution stays with its last state", async () => {
    const server = new ListServer();
    server.pages.set(undefined, page([row(2), row(1)]));
    const model = await openList(server);
    server.send(news([], ["order-1"]));
    await vi.waitFor(() => expect(model.getState().rows[1]).toMatchObject({ isGone: true, isMatch: false }));
  });

  test("an older state, which comes late, changes nothing", async () => {
    const server = new ListServer();
    server.pages.set(undefined, page([row(1, { version: 7 })]));
    const model = await openList(server);
    server.send(news([row(1, { version: 6, status: "failed" }), row(2)]));
    await vi.waitFor(() => expect(arrived(model)).toEqual(["order-2"]));
    expect(model.getState().rows[0]?.row.status).toBe("active");
  });

  test("rows of pages that are not loaded yet are no news", async () => {
    const server = new ListServer();
    server.pages.set(undefined, page([row(9), row(8)], { nextCursor: "c1" }));
    const model = await openList(server);
    server.send(news([row(7), row(10)]));
    await vi.waitFor(() => expect(arrived(model)).toEqual(["order-10"]));
  });

  test("news that come before the first page are not lost", async () => {
    const server = new ListServer();
    let answer: (page: ExecutionPage) => void = () => undefined;
    server.executions.list = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const model = new ListModel(server, {}, clock);
    onTestFinished(model.open());
    await vi.waitFor(() => expect(server.streams).toHaveLength(1));
    let hasCome = false;
    model.subscribe(() => {
      hasCome ||= model.getState().link.isLive;
    });
    server.send(news([row(1, { version: 2, status: "completed" }), row(2)]));
    server.send({ type: "link", isLive: true });
    await vi.waitFor(() => expect(hasCome).toBe(true));
    answer(page([row(1)]));
    await vi.waitFor(() => expect(model.getState().rows[0]?.row.status).toBe("completed"));
    expect(arrived(model)).toEqual(["order-2"]);
  });
});

describe("a list that is opened again", () => {
  test("shows what it had, and reads only what is seen again", async () => {
    const server = new ListServer();
    server.pages.set(undefined, page([row(4), row(3)], { nextCursor: "c1" }));
    server.pages.set("c1", page([row(2), row(1)]));
    const model = await openList(server);
    await model.loadMore();
    model.see(2, 4);
    close.pop()!();
    server.pages.set(undefined, page([row(2, { version: 2, status: "failed" }), row(1)]));
    server.asked.splice(0);
    close.push(model.open());
    expect(shown(model)).toEqual(["order-4", "order-3", "order-2", "order-1"]);
    await vi.waitFor(() => expect(model.getState().rows[2]?.row.status).toBe("failed"));
    expect(server.asked).toEqual([{ createdBefore: noon + 3, limit: 100 }]);
  });

  test("a search by text is not made again", async () => {
    const server = new ListServer();
    server.pages.set(undefined, page([row(1)], { looked: 20_000 }));
    const model = await openList(server, { q: "card" });
    model.see(0, 1);
    close.pop()!();
    close.push(model.open());
    await vi.waitFor(() => expect(server.streams).toHaveLength(2));
    expect(server.asked).toHaveLength(1);
  });
});

describe("pages", () => {
  test("the next page comes after the rows that are shown, without doubles", async () => {
    const server = new ListServer();
    server.pages.set(undefined, page([row(3), row(2)], { nextCursor: "c1" }));
    server.pages.set("c1", page([row(2), row(1)]));
    const model = await openList(server);
    await model.loadMore();
    expect(shown(model)).toEqual(["order-3", "order-2", "order-1"]);
    expect(model.getState().nextCursor).toBeNull();
    await model.loadMore();
    expect(server.asked).toHaveLength(2);
  });

  test("how many executions were looked at is counted over all pages", async () => {
    const server = new ListServer();
    server.pages.set(undefined, page([row(3)], { nextCursor: "c1", looked: 20_000, complete: false }));
    server.pages.set("c1", page([], { looked: 412 }));
    const model = await openList(server, { q: "card" });
    expect(model.getState().looked).toBe(20_000);
    await model.loadMore();
    expect(model.getState()).toMatchObject({ looked: 20_412, nextCursor: null });
  });

  test("a page that cannot be loaded leaves what is shown, and is tried again", async () => {
    const server = new ListServer();
    server.pages.set(undefined, page([row(1)], { nextCursor: "c1" }));
    server.pages.set("c1", Object.assign(new Error("no"), { code: "STORE_UNAVAILABLE", status: 503, requestId: "r1" }));
    const model = await openList(server);
    await model.loadMore();
    expect(model.getState()).toMatchObject({ failure: { code: "STORE_UNAVAILABLE", requestId: "r1" }, isLoadingMore: false });
    expect(shown(model)).toEqual(["order-1"]);
    server.pages.set("c1", page([row(0)]));
    await model.retry();
    expect(shown(model)).toEqual(["order-1", "order-0"]);
    expect(model.getState().failure).toBeNull();
  });
});
