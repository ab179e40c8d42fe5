import { afterEach, describe, expect, it } from "vitest";
import { type FeedHub, feedOn } from "../../../src/feeds/memory/memory-feed.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { EventFeed, Notice } from "../../../src/ports/event-feed.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { type VirtualEnvironment, virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, nodeDefinitions, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const approval = {
  id: "ask",
  nodes: [
    { id: "ask", type: "approval" },
    { id: "say", type: "say" },
  ],
  edges: [{ source: "ask", target: "say", sourceHandle: "approved" }],
};

/** A time that is far shorter than the interval of polls. */
const soonMs = 50;

/** Opens processes on one store and one feed. */
function processes(change: (feed: EventFeed) => EventFeed = (feed) => feed) {
  const environment = virtualEnvironment();
  const store = memoryStore({ now: environment.now });
  const hub: FeedHub = new Set();
  const told: Notice[] = [];
  const problems: unknown[] = [];
  const feed = feedOn(hub);
  void feed.listen((notices) => told.push(...notices.filter(({ kind }) => kind !== "test")), { onEnd: () => undefined });
  const open = (drive: boolean, more: object = {}) =>
    setUp(
      {
        store,
        feed: change(feedOn(hub)),
        nodeDefinitions: { ...builtinNodes, ...nodeDefinitions } as never,
        workflows: [approval, { id: "hang", nodes: [{ id: "s", type: "stuck" }], edges: [] }],
        drive,
        onProblem: (_, error) => problems.push(error),
        ...more,
      },
      environment,
    ).runtime;
  return { environment, store, told, problems, open, hub };
}

/** Sends an answer through one process, while a worker takes it and a third process waits for the end. */
async function answered(environment: VirtualEnvironment, open: ReturnType<typeof processes>["open"], withinMs: number) {
  const worker = open(true);
  const [client, waiter] = [open(false), open(false)];
  await environment.settle();
  const run = await client.start("ask", { workflowId: "w" });
  const there = await waiter.get("w");
  const asked = there.waitFor({ step: "ask" });
  const result = there.result();
  result.catch(() => undefined);
  await environment.advance(withinMs);
  const { id } = await Promise.race([asked, Promise.reject(new RangeError("the wait is not seen"))]);
  await run.resume({ waitId: id, payload: { approved: true } });
  await environment.advance(withinMs);
  const end = await Promise.race([result, environment.settle().then(() => "not seen")]);
  return { worker, end };
}

describe("a feed", () => {
  it("has an answer of one process taken by a worker, and seen by whoever waits, at once", async () => {
    const { environment, told, problems, open } = processes();
    const { end } = await answered(environment, open, soonMs);
    expect(end).not.toBe("not seen");
    expect(new Set(told.map(({ kind }) => kind))).toEqual(new Set(["due", "waiting", "ended"]));
    expect(problems).toEqual([]);
  });

  it("says nothing of steps", async () => {
    const { environment, told, open } = processes();
    const worker = open(true);
    const nodes = Array.from({ length: 20 }, (_, index) => ({ id: `n${index}`, type: "say" }));
    const edges = nodes.slice(1).map(({ id }, index) => ({ source: `n${index}`, target: id }));
    const run = await worker.start({ id: "line", nodes, edges });
    await environment.advance(soonMs);
    await run.result();
    expect(told.map(({ kind }) => kind)).toEqual(["ended"]);
  });

  it("sends what is told in one moment together, and what a busy process tells every 25 ms", async () => {
    let publishes = 0;
    const { environment, told, open } = processes((feed) => ({
      ...feed,
      publish(notices) {
        if (notices[0]?.kind !== "test") publishes++;
        return feed.publish(notices);
      },
    }));
    const client = open(false);
    const startMany = () => Promise.all(Array.from({ length: 500 }, () => client.start("ask")));
    await startMany();
    await environment.advance(4);
    expect(publishes).toBe(1);
    for (let ms = 0; ms < 20; ms += 5) {
      await startMany();
      await environment.advance(5);
    }
    expect(publishes).toBe(1);
    await environment.advance(soonMs);
    expect(publishes).toBe(2);
    expect(told.filter(({ kind }) => kind === "due")).toHaveLength(2_500);
  });

  it("sends what a process seldom tells within 5 ms", async () => {
    const { environment, told, open } = processes();
    const client = open(false);
    for (let count = 1; count <= 3; count++) {
      await client.start("ask");
      await environment.advance(5);
      expect(told).toHaveLength(count);
    }
  });

  it("ends a step of another process as soon as its execution is cancelled", async () => {
    const { environment, open } = processes();
    open(true);
    const client = open(false);
    const run = await client.start("hang", { workflowId: "h" });
    await environment.advance(soonMs);
    expect((await run.snapshot()).status).toBe("active");
    const result = run.result();
    result.catch(() => undefined);
    await run.cancel();
    await environment.advance(soonMs);
    await expect(result).rejects.toMatchObject({ code: "EXECUTION_CANCELLED" });
  });

  it("is only a hint: where it is silent, polls find everything, and that is said once", async () => {
    const { environment, problems, open } = processes((feed) => ({ ...feed, publish: async () => undefined }));
    const { end } = await answered(environment, open, 3 * second);
    expect(end).not.toBe("not seen");
    await environment.advance(600 * second);
    expect(problems).toEqual(Array(2).fill(expect.objectContaining({ code: "FEED_UNAVAILABLE" })));
  });

  it.each([
    ["says everything twice", (feed: EventFeed): EventFeed => ({ ...feed, publish: (all) => feed.publish([...all, ...all]) })],
    [
      "says it late",
      (feed: EventFeed): EventFeed => ({ ...feed, publish: (all) => new Promise((done) => setTimeout(() => done(feed.publish(all)), 3)) }),
    ],
    [
      "tells of what is not there",
      (feed: EventFeed): EventFeed => ({
        ...feed,
        publish: (all) => feed.publish([...all, ...all.map((each) => ({ ...each, workflowId: "no", version: 9 }))]),
      }),
    ],
    ["does not answer", (feed: EventFeed): EventFeed => ({ ...feed, publish: () => new Promise(() => undefined) })],
    [
      "rejects",
      (feed: EventFeed): EventFeed => ({
        ...feed,
        publish: () => Promise.reject(new RangeError("no")),
        listen: () => Promise.reject(new RangeError("no")),
      }),
    ],
  ])("may do what it wants: one that %s", async (_, change) => {
    const { environment, open } = processes(change);
    const { end } = await answered(environment, open, 3 * second);
    expect(end).not.toBe("not seen");
  });

  it("is listened to again after its connection was lost, and tells that it was away", async () => {
    const ends: ((error: unknown) => void)[] = [];
    let opened = 0;
    const { environment, problems, open } = processes((feed) => ({
      ...feed,
      listen(hear, options) {
        opened++;
        ends.push(options.onEnd);
        return feed.listen(hear, options);
      },
    }));
    open(true);
    await environment.advance(second);
    expect(opened).toBe(1);
    for (const end of ends) end(new RangeError("cut"));
    await environment.advance(second);
    expect([opened, problems.length]).toEqual([2, 1]);
  });

  it("is not listened to by a process that waits for nothing and runs nothing", async () => {
    let opened = 0;
    const { environment, open } = processes((feed) => ({
      ...feed,
      listen(hear, options) {
        opened++;
        return feed.listen(hear, options);
      },
    }));
    const client = open(false);
    await client.start("ask");
    await environment.advance(second);
    expect(opened).toBe(0);
  });

  it("is left when the runtime is closed", async () => {
    const { environment, open, hub } = processes();
    const worker = open(true);
    await environment.advance(second);
    const before = hub.size;
    await worker.close();
    expect(hub.size).toBe(before - 1);
  });

  it("floods no store: hints without end cause a bounded number of looks and polls", async () => {
    const { environment, store, open, hub } = processes();
    const counts = { heads: 0, claims: 0 };
    const { loadHead, claim } = store;
    store.loadHead = (id) => {
      counts.heads++;
      return loadHead(id);
    };
    store.claim = (options) => {
      counts.claims++;
      return claim(options);
    };
    open(true);
    const [client, waiter] = [open(false), open(false)];
    await client.start("ask", { workflowId: "w" });
    (await waiter.get("w")).result().catch(() => undefined);
    await environment.advance(soonMs);
    Object.assign(counts, { heads: 0, claims: 0 });
    const flood = JSON.stringify(Array.from({ length: 1_000 }, (_, index) => ["due", "w", 1_000 + index]));
    for (let ms = 0; ms < second; ms++) {
      for (const hear of hub) hear(flood);
      await environment.advance(1);
    }
    expect(counts.heads).toBeLessThanOrEqual(202);
    expect(counts.claims).toBeLessThanOrEqual(30);
  });
});
