import { afterEach, describe, expect, it } from "vitest";
import type { Commit, SnapshotStore } from "../../src/ports/snapshot-store.ts";
import type { Schedules } from "../../src/runtime/context/schedules.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { altered } from "../../src/testing/broken/broken-store.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { closeAll, hour, minute, scheduling, startsOf } from "./schedules.fixture.ts";

afterEach(closeAll);

const twice = { workflow: "quick", every: "1h", count: 2 };

/** Makes a schedule of two ticks. Just before its worker commits the end for the first time, `tell` runs in another process. */
async function toldAtTheEnd(tell: (schedules: Schedules) => Promise<unknown>) {
  const environment = virtualEnvironment();
  const store = memoryStore({ now: () => environment.now() });
  const others = scheduling({ store, drive: false }, environment);
  let told = 0;
  const seen: SnapshotStore = altered(store, {
    async commit(commit: Commit) {
      const isEnd = commit.workflowId === "schedule:s" && commit.events.some((event) => event.type === "completed" && event.terminates);
      if (isEnd && told++ === 0) await tell(others.runtime.schedules);
      await store.commit(commit);
    },
  });
  const { runtime } = scheduling({ store: seen }, environment);
  await runtime.schedules.create("s", twice);
  await environment.advance(6 * hour + minute);
  return { described: await runtime.schedules.describe("s"), starts: await startsOf(store, "s"), told };
}

describe("a schedule that is told something as it ends", () => {
  it("does what an edit says that was committed before its end", async () => {
    const { described, starts } = await toldAtTheEnd((schedules) => schedules.edit("s", { count: 3 }));
    expect(described).toMatchObject({ status: "ended", generation: 2, spec: { count: 3 } });
    expect(starts).toHaveLength(5);
  });

  it("goes on without an end, if that is what the edit says", async () => {
    const { described, starts } = await toldAtTheEnd((schedules) => schedules.edit("s", { count: undefined }));
    expect(described).toMatchObject({ status: "active" });
    expect(starts).toHaveLength(6);
  });

  it("starts what was triggered, and then ends", async () => {
    const { described, starts, told } = await toldAtTheEnd((schedules) => schedules.trigger("s"));
    expect(described).toMatchObject({ status: "ended", counts: { started: 3 } });
    expect(starts).toHaveLength(3);
    expect(told).toBe(2);
  });

  it("ends if it is told nothing", async () => {
    const { described, starts } = await toldAtTheEnd(async () => undefined);
    expect(described).toMatchObject({ status: "ended" });
    expect(starts).toHaveLength(2);
  });
});
