import { type Environment, systemEnvironment } from "stepfold";
import { memoryStore } from "stepfold/stores/memory";
import { describe, expect, it, onTestFinished } from "vitest";
import { createServer } from "../src/index.ts";
import { type Served, served } from "./served.fixture.ts";
import { clientOf, until, versionsOf } from "./streams.fixture.ts";

/** An environment that knows how many of its timers wait. */
function countingTimers(): { readonly environment: Environment; readonly waiting: () => number } {
  const waiting = new Set<object>();
  const environment: Environment = {
    now: () => systemEnvironment.now(),
    monotonicMs: () => systemEnvironment.monotonicMs(),
    newId: () => systemEnvironment.newId(),
    after(delayMs, callback, options) {
      const timer = {};
      waiting.add(timer);
      const stop = systemEnvironment.after(
        delayMs,
        () => {
          waiting.delete(timer);
          callback();
        },
        options,
      );
      return () => {
        waiting.delete(timer);
        stop();
      };
    },
  };
  return { environment, waiting: () => waiting.size };
}

const pollsOnly = 4;

async function paused(all: Served): Promise<void> {
  await (await all.runtime.start("ask", { workflowId: "a", input: { order: 7 } })).waitFor("paused");
}

describe("a stream that nobody reads holds nothing", () => {
  it("after a request of the headers alone", async () => {
    const { environment, waiting } = countingTimers();
    const all = await served({ environment });
    await paused(all);
    for (let i = 0; i < 20; i++) {
      const { status, body, headers } = await all.send("/v1/stream?execution=a&list=1", { method: "HEAD" });
      expect([status, body, headers.get("content-type")]).toEqual([200, null, "text/event-stream"]);
    }
    await expect.poll(waiting).toBeLessThanOrEqual(pollsOnly);
  });

  it("after a list that is refused", async () => {
    const { environment, waiting } = countingTimers();
    const all = await served({ environment });
    const tooMany = Array.from({ length: 11 }, (_, index) => `meta.key${index}=1`).join("&");
    for (let i = 0; i < 20; i++) expect((await all.ask(`/v1/stream?list=1&${tooMany}`)).status).toBe(400);
    await expect.poll(waiting).toBeLessThanOrEqual(pollsOnly);
  });

  it("if the server is closed while it is opened", async () => {
    const store = memoryStore();
    let answer = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { environment, waiting } = countingTimers();
    const all = await served({
      environment,
      store: {
        ...store,
        async now() {
          await asked;
          return store.now();
        },
      },
      runtimeOptions: { drive: false },
    });
    const opening = all.send("/v1/stream?list=1");
    await expect.poll(waiting).toBeGreaterThan(0);
    all.server.close();
    answer();
    const frames = await new Response((await opening).body).text();
    expect(frames).not.toContain("data:");
    expect(waiting()).toBe(0);
    expect((await all.ask("/v1/me")).body.code).toBe("SERVER_CLOSED");
  });
});

describe("one caller", () => {
  it("does not take all lists, and has its place again once it leaves", async () => {
    const all = await served({ people: [{ name: "ada" }, { name: "bob" }] });
    const held: Response[] = [];
    let last = await all.send("/v1/stream?list=1");
    for (; last.status === 200; last = await all.send(`/v1/stream?list=1&idPrefix=list-${held.length}`)) held.push(last);
    expect([last.status, last.headers.get("retry-after"), await last.json()]).toEqual([
      ...[429, "30"],
      expect.objectContaining({ code: "RATE_LIMITED" }),
    ]);
    expect(held).toHaveLength(100);
    const other = await all.send("/v1/stream?list=1&idPrefix=mine", { as: "bob" });
    expect(other.status).toBe(200);
    await Promise.all([...held, other].map(({ body }) => body!.cancel()));
    const again = await all.send("/v1/stream?list=1");
    expect(again.status).toBe(200);
    await again.body!.cancel();
  });
});

it("tells of an execution once that is named twice", async () => {
  const all = await served();
  await paused(all);
  const frames = await until(clientOf(all).stream({ executions: ["a", "a"] }), ({ type }) => type === "head");
  expect(versionsOf(frames)).toEqual([0, 1]);
  const response = await all.send("/v1/stream?execution=a&execution=a");
  let text = "";
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  while (!text.includes("event: head")) text += (await reader.read()).value;
  await reader.cancel();
  expect(text.match(/event: event/g)).toHaveLength(2);
});

it("tells changes of a list in their order, also while the clock of the store does not answer", async () => {
  const all = await served();
  await paused(all);
  let [isAway, laterMs] = [false, 0];
  const { environment } = countingTimers();
  const server = createServer({
    runtime: all.runtime,
    store: { ...all.store, now: () => (isAway ? new Promise<number>(() => undefined) : all.store.now()) },
    auth: "off",
    environment: { ...environment, monotonicMs: () => environment.monotonicMs() + laterMs },
  });
  onTestFinished(() => server.close());
  const statuses: string[] = [];
  for await (const frame of clientOf({ ...all, server }).executions.watchList()) {
    if (frame.type !== "list") continue;
    statuses.push(...frame.upsert.map(({ status }) => status));
    expect(Math.abs(frame.storeNow - Date.now())).toBeLessThan(5_000);
    if (statuses.at(-1) === "cancelled") break;
    // from now on, what is known of the clock is too old
    [isAway, laterMs] = [true, 60_000];
    await (await all.runtime.get("a")).cancel();
  }
  expect(statuses).toEqual(["paused", "cancelled"]);
});
