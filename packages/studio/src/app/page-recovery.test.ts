import { beforeEach, expect, test, vi } from "vitest";
import { FakeStorage } from "../../test/storage.fixture.ts";
import { recoverPage } from "./page-recovery.ts";

let tab: FakeStorage;
let timers: { call: () => void; delayMs: number }[];
beforeEach(() => {
  tab = new FakeStorage();
  timers = [];
});

/** A page whose code could not be loaded, and a server that answers or not. */
function broken(answers: boolean, isKept = true) {
  const reload = vi.fn();
  const server = { answers };
  const stop = recoverPage({
    tab,
    isKept,
    reload,
    ask: async () => {
      if (!server.answers) throw new TypeError("fetch failed");
    },
    schedule: (call, delayMs) => {
      timers.push({ call, delayMs });
      return () => timers.splice(0);
    },
  });
  return { reload, server, stop };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const ring = async (): Promise<void> => {
  timers.shift()!.call();
  await settled();
};

test("it is loaded again when the server answers, with longer and longer pauses before", async () => {
  const { reload, server } = broken(false);
  await settled();
  const pauses: number[] = [];
  for (let look = 0; look < 6; look++) {
    pauses.push(timers[0]!.delayMs);
    await ring();
  }
  expect([pauses, reload.mock.calls.length]).toEqual([[1_000, 2_000, 4_000, 8_000, 10_000, 10_000], 0]);
  server.answers = true;
  await ring();
  expect([reload.mock.calls.length, timers.length]).toEqual([1, 0]);
});

test("code that is gone from a server that answers is asked for once more, and not again and again", async () => {
  const first = broken(true);
  await settled();
  expect(first.reload).toHaveBeenCalledTimes(1);
  const second = broken(true);
  await settled();
  await ring();
  expect(second.reload).not.toHaveBeenCalled();
  // the server goes away and comes back
  second.server.answers = false;
  await ring();
  second.server.answers = true;
  await ring();
  expect(second.reload).toHaveBeenCalledTimes(1);
});

test("where the browser keeps nothing, it is loaded again only after the server was away", async () => {
  const { reload, server } = broken(true, false);
  await settled();
  server.answers = false;
  await ring();
  expect(reload).not.toHaveBeenCalled();
  server.answers = true;
  await ring();
  expect(reload).toHaveBeenCalledTimes(1);
});

test("nothing happens after its end", async () => {
  const { reload, server, stop } = broken(false);
  await settled();
  stop();
  server.answers = true;
  expect(timers).toEqual([]);
  await settled();
  expect(reload).not.toHaveBeenCalled();
});
