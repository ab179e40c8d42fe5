import { describe, expect, it } from "vitest";
import type { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { Deadlines } from "../../environment/system-environment.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { virtualEnvironment } from "../../testing/virtual-environment.ts";
import { memoryStore } from "../databases/memory/index.ts";
import { checkedStore, type StoreMethods } from "./checked-store.ts";

const hang = (): Promise<never> => new Promise(() => undefined);
const environment = virtualEnvironment();

/** A memory store in which some methods are replaced. */
function storeWith(methods: Partial<Pick<StoreMethods, "load" | "close">>): SnapshotStore {
  const { prune, trim, ...memory } = memoryStore();
  const all: StoreMethods = { ...memory, prune: ({ before }) => prune({ before }), trim: ({ before }) => trim({ before }), ...methods };
  return checkedStore(all, (cause) => cause as StepfoldError, new Deadlines(environment));
}

/** The state of a promise: open, done or failed. */
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
    const store = storeWith({ [method]: hang });
    void store.load("a");
    const closing = fate(store.close());
    await environment.advance(29_000);
    expect(closing.now).toBe("open");
    await environment.advance(1_000);
    expect(closing.now).toBe("done");
  });

  it("waits for the calls that are under way", async () => {
    let answer = (_: null): void => undefined;
    const load = (): Promise<null> =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const store = storeWith({ load });
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
