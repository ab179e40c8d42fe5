import { afterEach, describe, expect, it } from "vitest";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, hour, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

type Method = Exclude<keyof SnapshotStore, "name" | "features">;

const methods: readonly Method[] = [
  ...(["create", "load", "commit", "claim", "renew", "release", "now", "events", "list", "delete"] as const),
  ...(["putDefinition", "getDefinition"] as const),
];

/** A store whose next call of one method is never answered. */
function hangingOnce(inner: SnapshotStore, method: Method): { readonly store: SnapshotStore; hung: () => boolean } {
  let isHung = false;
  const call = (...args: never[]): unknown => {
    if (isHung) return (inner[method] as (...given: never[]) => unknown)(...args);
    isHung = true;
    return new Promise(() => undefined);
  };
  return { store: { ...inner, [method]: call } as SnapshotStore, hung: () => isHung };
}

describe("AUDIT 5: one call of the store that is never answered", () => {
  it.each(methods)("of %s does not stop what is started later, nor timers", async (method) => {
    const environment = virtualEnvironment();
    const inner = memoryStore({ now: () => environment.now() });
    const { store } = hangingOnce(inner, method);
    const { runtime } = setUp({ store }, environment);
    const first = runtime.start("talk", { workflowId: "first" }).catch((error: unknown) => error);
    await environment.advance(60 * second);
    await first;
    const nap = runtime.start("nap", { workflowId: "second", input: { until: environment.now() + 5 * second } });
    await environment.advance(60 * second);
    expect(await inner.load((await nap).workflowId)).toMatchObject({ status: "completed" });
  });

  it("of prune does not end the deletion of old executions", async () => {
    const environment = virtualEnvironment();
    const inner = memoryStore({ now: () => environment.now() });
    const { store, hung } = hangingOnce(inner, "prune");
    const { runtime } = setUp({ store, retention: hour }, environment);
    await runtime.start("talk", { workflowId: "a" }).then((run) => run.cancel());
    await environment.advance(second);
    expect(hung()).toBe(true);
    await environment.advance(2 * hour);
    expect(await inner.load("a")).toBeNull();
  });

  it("of prune is told to whoever asked for it", async () => {
    const environment = virtualEnvironment();
    const { store } = hangingOnce(memoryStore({ now: () => environment.now() }), "prune");
    const { runtime } = setUp({ store }, environment);
    const pruning = runtime.prune({ before: environment.now() }).catch((error: unknown) => error);
    await environment.advance(11 * second);
    expect(await pruning).toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  it("gives back what a claim brings that comes too late", async () => {
    const environment = virtualEnvironment();
    const inner = memoryStore({ now: () => environment.now() });
    let answer = (): void => undefined;
    let calls = 0;
    const claim: SnapshotStore["claim"] = async (options) => {
      const claimed = await inner.claim(options);
      if (++calls === 1) {
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
      }
      return claimed;
    };
    const { runtime } = setUp({ store: { ...inner, claim } }, environment);
    const starter = setUp({ store: inner, drive: false }, environment).runtime;
    await starter.start("talk", { workflowId: "a" });
    void runtime;
    await environment.advance(12 * second);
    answer();
    await environment.advance(2 * second);
    expect(await inner.load("a")).toMatchObject({ status: "paused" });
  });
});
