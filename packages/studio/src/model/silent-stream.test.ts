import type { ExecutionView } from "stepfold/client";
import type { Event, StartedEvent } from "stepfold/core";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { directPort } from "../../test/execution/direct-port.fixture.ts";
import { type History, order, startHistory } from "../../test/execution/history.fixture.ts";
import { ExecutionModel } from "./execution-model.ts";
import { ReplayClient } from "./replay/replay-client.ts";
import { type PolledClient, SilentStream } from "./silent-stream.ts";

let history: History;
let events: Event[];
let timers: { call: () => void; delayMs: number }[];

beforeEach(async () => {
  history = await startHistory(order, { total: 1 });
  events = await history.events();
  timers = [];
});
afterEach(() => history.close());

/** Lets the next timer ring. */
const ring = (): void => timers.shift()!.call();

function silent() {
  let told = 2;
  const { definition } = events[0] as StartedEvent;
  const client: PolledClient = {
    executions: {
      get: async () => ({ workflowId: "one", incarnation: "a", definition, lease: null, storeNow: 0, version: told }) as ExecutionView,
      // three events a page
      events: async (_id, query) => {
        const items = events.filter(({ version }) => version > query!.after! && version <= told).slice(0, 3);
        return { items, next: null, last: told };
      },
    },
  };
  const model = new ExecutionModel("one", { replay: new ReplayClient(directPort()), now: () => 0, schedule: (draw) => setTimeout(draw) });
  const stop = new AbortController();
  const stream = new SilentStream(client, model, stop.signal, (call, delayMs) => {
    const timer = { call, delayMs };
    timers.push(timer);
    return () => {
      timers = timers.filter((one) => one !== timer);
    };
  });
  return { model, stream, stop, tell: (version: number) => (told = version) };
}

it("asks for what is new while nothing comes, page by page, and goes on asking", async () => {
  const { model, tell } = silent();
  expect(timers.map(({ delayMs }) => delayMs)).toEqual([3_000]);
  ring();
  await vi.waitFor(() => expect(model.head?.version).toBe(2));
  expect(model.events).toEqual(events.slice(0, 3));
  await vi.waitFor(() => expect(timers.map(({ delayMs }) => delayMs)).toEqual([2_000]));
  tell(events.length - 1);
  ring();
  await vi.waitFor(() => expect(model.head?.version).toBe(events.length - 1));
  expect(model.events).toEqual(events);
});

it("asks nothing once the stream tells something, and listens anew after a change of the connection", async () => {
  const { model, stream, stop } = silent();
  stream.hear({ type: "head", execution: "one", view: {} as ExecutionView });
  expect(timers).toEqual([]);
  stream.hear({ type: "link", isLive: true });
  expect(timers).toHaveLength(1);
  stop.abort();
  expect(timers).toEqual([]);
  expect(model.events).toEqual([]);
});

it("asks nothing while there is no connection, and takes nothing that comes after the stream has told more", async () => {
  const { model, stream } = silent();
  model.take({ type: "link", isLive: false, againInMs: 1_000 });
  ring();
  await vi.waitFor(() => expect(timers).toHaveLength(1));
  expect(model.events).toEqual([]);
  model.take({ type: "link", isLive: true });
  ring();
  stream.hear({ type: "problem", code: "STORE_UNAVAILABLE" });
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(model.events).toEqual([]);
  stream.end();
  expect(timers).toEqual([]);
});
