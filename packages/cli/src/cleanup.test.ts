import { afterEach, describe, expect, it, vi } from "vitest";
import { cleanup } from "./cleanup.ts";

afterEach(() => vi.useRealTimers());

describe("the end of a command", () => {
  it("closes what was opened last first, also after one that fails", async () => {
    const closed: string[] = [];
    const closing = cleanup();
    closing.add(() => closed.push("store"));
    closing.add(() => Promise.reject(new RangeError("no")));
    closing.add(() => closed.push("queue"));
    await closing.run();
    expect(closed).toEqual(["queue", "store"]);
  });

  it("does not wait for ever for a queue that does not answer", async () => {
    vi.useFakeTimers();
    const closed: string[] = [];
    const closing = cleanup();
    closing.add(() => closed.push("store"));
    closing.add(() => new Promise(() => undefined));
    const done = closing.run();
    await vi.advanceTimersByTimeAsync(45_000);
    await done;
    expect(closed).toEqual(["store"]);
  });
});
