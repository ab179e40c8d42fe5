import { afterEach, describe, expect, it } from "vitest";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

describe("AUDIT 13: an answer whose commit the store takes, but does not acknowledge", () => {
  it("is told as unknown, and the same call again is applied once", async () => {
    const environment = virtualEnvironment();
    const inner = memoryStore({ now: () => environment.now() });
    let isSilent = false;
    const commit: SnapshotStore["commit"] = async (one) => {
      await inner.commit(one);
      if (isSilent) await new Promise(() => undefined);
    };
    const { runtime } = setUp({ store: { ...inner, commit } }, environment);
    const run = await runtime.start("talk", { workflowId: "a" });
    await environment.settle();
    isSilent = true;
    const answer = { payload: { approved: true }, idempotencyKey: "once" };
    const first = run.resume(answer).catch((error: unknown) => error);
    await environment.advance(30 * second);
    expect(await first).toMatchObject({ code: "OUTCOME_UNKNOWN", retryable: true, details: { workflowId: "a", action: "resume" } });
    isSilent = false;
    expect(await run.resume(answer)).toEqual({ applied: false });
    await environment.advance(60 * second);
    expect(await run.snapshot()).toMatchObject({ status: "completed" });
  });
});
