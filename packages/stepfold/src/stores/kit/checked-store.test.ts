import { afterEach, describe, expect, it, vi } from "vitest";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { memoryStore } from "../databases/memory/index.ts";
import { encryptedStore } from "../wrappers/encrypted/index.ts";

afterEach(() => vi.useRealTimers());

const hang = (): Promise<never> => new Promise(() => undefined);
const keys = [{ id: "k", key: new Uint8Array(32) }];

/** What became of a promise so far. */
function fate(work: Promise<unknown>): { now: string } {
  const seen = { now: "open" };
  work.then(
    () => {
      seen.now = "done";
    },
    () => {
      seen.now = "failed";
    },
  );
  return seen;
}

describe("close() of a store", () => {
  it.each<keyof SnapshotStore>(["load", "close"])("ends after 30 seconds although a %s of the client is never answered", async (method) => {
    vi.useFakeTimers();
    const store = encryptedStore({ ...memoryStore(), [method]: hang }, { keys });
    void store.load("a");
    const closing = fate(store.close());
    await vi.advanceTimersByTimeAsync(29_000);
    expect(closing.now).toBe("open");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(closing.now).toBe("done");
  });

  it("waits for the calls that are under way", async () => {
    let answer = (_: null): void => undefined;
    const load = (): Promise<null> =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const store = encryptedStore({ ...memoryStore(), load }, { keys });
    const loading = store.load("a");
    const closing = fate(store.close());
    await new Promise(setImmediate);
    expect(closing.now).toBe("open");
    answer(null);
    expect(await loading).toBeNull();
    await new Promise(setImmediate);
    expect(closing.now).toBe("done");
  });
});
