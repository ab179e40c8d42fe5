import type { ExecutionListQuery, ExecutionPage, ListedExecution, PositionedFrame, StreamFrame } from "stepfold/client";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { noon, rowOf } from "../../../../test/rows.fixture.ts";
import { type ListClient, ListModel } from "./list-model.ts";

/** A server: its pages and frames are what the test gives. */
class Server implements ListClient {
  readonly asked: ExecutionListQuery[] = [];
  readonly pages = new Map<string | undefined, ExecutionPage | Error>();
  readonly streams: { readonly signal: AbortSignal; readonly query: unknown }[] = [];
  #send: ((frame: StreamFrame) => void) | undefined;

  readonly executions = {
    list: async (query: ExecutionListQuery = {}): Promise<ExecutionPage> => {
      this.asked.push(query);
      const page = this.pages.get(query.cursor);
      if (page instanceof Error) throw page;
      if (!page) throw new TypeError(`there is no page ${query.cursor}`);
      return page;
    },
  };

  readonly stream: ListClient["stream"] = (query, { signal } = {}) => {
    this.streams.push({ signal: signal!, query });
    return this.#frames(signal!);
  };

  send(frame: StreamFrame): void {
    this.#send!(frame);
  }

  async *#frames(signal: AbortSignal): AsyncGenerator<PositionedFrame, void, undefined> {
    const queue: StreamFrame[] = [];
    let wake: () => void = () => undefined;
    this.#send = (frame) => {
      queue.push(frame);
      wake();
    };
    signal.addEventListener("abort", () => wake());
    while (!signal.aborted) {
      const next = queue.shift();
      if (next) yield next;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }
}

const page = (items: readonly ListedExecution[], more: Partial<ExecutionPage> = {}): ExecutionPage => ({
  items,
  nextCursor: null,
  looked: null,
  complete: true,
  storeNow: noon,
  ...more,
});
const row = (id: number, given: Partial<ListedExecution> = {}): ListedExecution =>
  rowOf({ workflowId: `order-${id}`, createdAt: noon + id, ...given });
let time = noon;
const clock = { read: () => time, synchronize: () => undefined };
const news = (upsert: readonly ListedExecution[], gone: readonly string[] = []): StreamFrame => ({
  type: "list",
  upsert,
  gone,
  storeNow: noon,
});

const close: (() => void)[] = [];
afterEach(() => {
  time = noon;
  for (const stop of close.splice(0)) stop();
});

async function openList(server: Server, query: ExecutionListQuery = {}): Promise<ListModel> {
  const model = new ListModel(server, query, clock);
  close.push(model.open());
  await vi.waitFor(() => expect(model.getState().isLoaded || model.getState().failure !== null).toBe(true));
  return model;
}

const shown = (model: ListModel): readonly string[] => model.getState().rows.map(({ row: { workflowId } }) => workflowId);
const arrived = (model: ListModel): readonly string[] => model.getState().arrived.map(({ workflowId }) => workflowId);

describe("a list that is open", () => {
  test("rows change where they are, also when they no longer match", async () => {
    const server = new Server();
    server.pages.set(undefined, page([row(3), row(2), row(1)]));
    const model = await openList(server, { status: "active" });
    server.send(news([row(2, { status: "failed", version: 2 })]));
    await vi.waitFor(() => expect(model.getState().rows[1]).toMatchObject({ row: { status: "failed" }, isMatch: false }));
    expect(shown(model)).toEqual(["order-3", "order-2", "order-1"]);
  });

  test("new rows wait until they are asked for; then what no longer matches goes", async () => {
    const server = new Server();
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
    const server = new Server();
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
    const server = new Server();
    server.pages.set(undefined, page([row(1)]));
    const model = await openList(server, { status: "active" });
    server.send(news([row(2)]));
    await vi.waitFor(() => expect(arrived(model)).toEqual(["order-2"]));
    server.send(news([row(2, { status: "completed", version: 2 })]));
    await vi.waitFor(() => expect(arrived(model)).toEqual([]));
  });

  test("a deleted execution stays with its last state", async () => {
    const server = new Server();
    server.pages.set(undefined, page([row(2), row(1)]));
    const model = await openList(server);
    server.send(news([], ["order-1"]));
    await vi.waitFor(() => expect(model.getState().rows[1]).toMatchObject({ isGone: true, isMatch: false }));
  });

  test("an older state, which comes late, changes nothing", async () => {
    const server = new Server();
    server.pages.set(undefined, page([row(1, { version: 7 })]));
    const model = await openList(server);
    server.send(news([row(1, { version: 6, status: "failed" }), row(2)]));
    await vi.waitFor(() => expect(arrived(model)).toEqual(["order-2"]));
    expect(model.getState().rows[0]?.row.status).toBe("active");
  });

  test("rows of pages that are not loaded yet are no news", async () => {
    const server = new Server();
    server.pages.set(undefined, page([row(9), row(8)], { nextCursor: "c1" }));
    const model = await openList(server);
    server.send(news([row(7), row(10)]));
    await vi.waitFor(() => expect(arrived(model)).toEqual(["order-10"]));
  });

  test("news that come before the first page are not lost", async () => {
    const server = new Server();
    let answer: (page: ExecutionPage) => void = () => undefined;
    server.executions.list = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const model = new ListModel(server, {}, clock);
    close.push(model.open());
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
    const server = new Server();
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
    const server = new Server();
    server.pages.set(undefined, page([row(1)], { looked: 20_000 }));
    const model = await openList(server, { q: "card" });
    model.see(0, 1);
    close.pop()!();
    close.push(model.open());
    await vi.waitFor(() => expect(server.streams).toHaveLength(2));
    expect(server.asked).toHaveLength(1);
  });
});

describe("rows of which the stream does not tell", () => {
  /** Two pages of a hundred rows, and looks at them when the test says so. */
  async function twoPages(given: Partial<ListedExecution> = {}) {
    const server = new Server();
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
    time = noon + 3_900;
    await look();
    expect(server.asked).toEqual([]);
    time = noon + 4_000;
    server.pages.set(undefined, page([row(1_000, { version: 2, wakeAt: noon + 60_000 })], { storeNow: time }));
    await look();
    expect(server.asked).toHaveLength(1);
    expect(model.getState().rows[0]).toMatchObject({ row: { version: 2 }, toldAt: noon + 4_000 });
  });
});

describe("pages", () => {
  test("the next page comes after the rows that are shown, without doubles", async () => {
    const server = new Server();
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
    const server = new Server();
    server.pages.set(undefined, page([row(3)], { nextCursor: "c1", looked: 20_000, complete: false }));
    server.pages.set("c1", page([], { looked: 412 }));
    const model = await openList(server, { q: "card" });
    expect(model.getState().looked).toBe(20_000);
    await model.loadMore();
    expect(model.getState()).toMatchObject({ looked: 20_412, nextCursor: null });
  });

  test("a page that cannot be loaded leaves what is shown, and is tried again", async () => {
    const server = new Server();
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

describe("the connection", () => {
  test("the stream is asked only what it knows", async () => {
    const server = new Server();
    server.pages.set(undefined, page([]));
    await openList(server, { status: "failed", q: "card", node: "charge", error: "X", order: "oldest" });
    expect(server.streams[0]?.query).toEqual({ list: { status: "failed" } });
  });

  test("a broken connection is shown with the last news and the next try", async () => {
    const server = new Server();
    server.pages.set(undefined, page([]));
    const model = await openList(server);
    server.send({ type: "link", isLive: true });
    server.send({ type: "link", isLive: false, againInMs: 4_000, code: "CONNECTION_LOST" });
    await vi.waitFor(() => expect(model.getState().link).toMatchObject({ isLive: false, lastNewsAt: noon, againAt: noon + 4_000 }));
  });

  test("a try now begins another connection and ends the old one", async () => {
    const server = new Server();
    server.pages.set(undefined, page([]));
    const model = await openList(server);
    model.tryNow();
    await vi.waitFor(() => expect(server.streams).toHaveLength(2));
    expect(server.streams[0]?.signal.aborted).toBe(true);
    expect(server.streams[1]?.signal.aborted).toBe(false);
  });

  test("when it lives again, a list that could not be loaded is loaded", async () => {
    const server = new Server();
    server.pages.set(undefined, Object.assign(new Error("lost"), { code: "CONNECTION_LOST" }));
    const model = await openList(server);
    server.pages.set(undefined, page([row(1)]));
    server.send({ type: "link", isLive: true });
    await vi.waitFor(() => expect(shown(model)).toEqual(["order-1"]));
  });

  test("a store that does not answer is told until news come", async () => {
    const server = new Server();
    server.pages.set(undefined, page([row(1)]));
    const model = await openList(server);
    server.send({ type: "problem", code: "STORE_UNAVAILABLE" });
    await vi.waitFor(() => expect(model.getState().problem).toBe("STORE_UNAVAILABLE"));
    server.send(news([]));
    await vi.waitFor(() => expect(model.getState().problem).toBeNull());
  });

  test("while a proxy collects the stream, the first page is read again and again", async () => {
    const server = new Server();
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
    const server = new Server();
    server.pages.set(undefined, page([]));
    await openList(server);
    close.pop()!();
    expect(server.streams[0]?.signal.aborted).toBe(true);
  });
});
