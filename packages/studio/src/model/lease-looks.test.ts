import type { ExecutionView } from "stepfold/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { directPort } from "../../test/execution/direct-port.fixture.ts";
import { ExecutionModel } from "./execution-model.ts";
import { LeaseLooks } from "./lease-looks.ts";
import { ReplayClient } from "./replay/replay-client.ts";

const lease = { owner: "worker-1", until: 30_000, crashes: 0 };
const definition = { id: "order", hash: "h" };

let timers: { call: () => void; delayMs: number }[];
let stop: AbortController;
beforeEach(() => {
  timers = [];
  stop = new AbortController();
});
afterEach(() => stop.abort());

/** A page that knows of a lease of 30 seconds, at the beginning of it. */
function watched() {
  const view = (more: Partial<ExecutionView>) =>
    ({ incarnation: "a", definition, version: 1, storeNow: 0, lease, ...more }) as ExecutionView;
  let now = 0;
  let answer = view({});
  const get = vi.fn(async () => answer);
  const model = new ExecutionModel("one", { replay: new ReplayClient(directPort()), now: () => now, schedule: (draw) => draw() });
  new LeaseLooks(
    { executions: { get } },
    model,
    stop.signal,
    () => now,
    (call, delayMs) => {
      const timer = { call, delayMs };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
  );
  const tell = (more: Partial<ExecutionView>): void => model.take({ type: "head", execution: "one", view: view(more) });
  /** Lets the next timer ring at its time, when the server says this. */
  const ring = async (more: Partial<ExecutionView>): Promise<void> => {
    const { call, delayMs } = timers.shift()!;
    now += delayMs;
    answer = view({ storeNow: now, ...more });
    call();
    await vi.waitFor(() => expect(timers).toHaveLength(1));
  };
  return { model, get, tell, ring };
}

it("looks shortly before a lease ends, and sees that it was renewed", async () => {
  const { model, tell, ring } = watched();
  expect(timers).toEqual([]);
  tell({});
  expect(timers.map(({ delayMs }) => delayMs)).toEqual([29_000]);
  await ring({ lease: { ...lease, until: 50_000 } });
  expect(model.head?.lease?.until).toBe(50_000);
  expect(timers.map(({ delayMs }) => delayMs)).toEqual([20_000]);
});

it("looks once more after the end, and then now and then", async () => {
  const { model, get, tell, ring } = watched();
  tell({});
  await ring({});
  expect(timers.map(({ delayMs }) => delayMs)).toEqual([1_250]);
  await ring({});
  expect(model.head?.storeNow).toBe(30_250);
  expect(timers.map(({ delayMs }) => delayMs)).toEqual([10_000]);
  expect(get).toHaveBeenCalledTimes(2);
});

it("does not go back behind what the stream has told, and stops with the page", async () => {
  const { model, tell, ring } = watched();
  tell({ version: 7 });
  await ring({ version: 6, lease: null });
  expect(model.head).toMatchObject({ version: 7, lease });
  stop.abort();
  expect(timers).toEqual([]);
});

it("has nothing to look at without a lease", () => {
  const { tell } = watched();
  tell({});
  tell({ lease: null });
  expect(timers).toEqual([]);
});
