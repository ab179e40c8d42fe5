import { afterEach, describe, expect, it } from "vitest";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import type { Runtime } from "../../../src/runtime/runtime.ts";
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

describe("an answer for which no connection is made", () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED", syscall: "connect" });
  const ofSeveralAddresses = Object.assign(new AggregateError([refused, refused]), { code: "ECONNREFUSED" });
  const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", syscall: "read" });
  const ofSdk = Object.assign(new Error("connect ECONNREFUSED"), { syscall: "connect", $metadata: { attempts: 2 } });
  it.each([
    ["STORE_UNAVAILABLE", "it was refused each time", [refused]],
    ["STORE_UNAVAILABLE", "it was refused at each address", [ofSeveralAddresses]],
    ["OUTCOME_UNKNOWN", "it broke the first time, and was refused after that", [reset, refused]],
    ["OUTCOME_UNKNOWN", "the client tried several times by itself", [ofSdk]],
  ])("is %s if %s", async (code, _, causes) => {
    const environment = virtualEnvironment();
    const inner = memoryStore({ now: () => environment.now() });
    let calls: number | null = null;
    const commit: SnapshotStore["commit"] = (one) => {
      if (calls === null) return inner.commit(one);
      const cause = causes[Math.min(calls++, causes.length - 1)];
      return Promise.reject(new StepfoldError("STORE_UNAVAILABLE", { store: "postgres", reason: "away" }, { cause }));
    };
    const { runtime } = setUp({ store: { ...inner, commit } }, environment);
    const run = await runtime.start("talk", { workflowId: "a" });
    await environment.settle();
    calls = 0;
    const answer = run.resume({ payload: { approved: true } }).catch((error: unknown) => error);
    await environment.advance(30 * second);
    expect(await answer).toMatchObject({ code });
    expect(calls).toBeGreaterThan(2);
  });
});

describe("a signal without a key whose commit the store takes, but does not acknowledge", () => {
  const go = defineNode({
    executor: (_data, step) =>
      step.resumed ? ({ continueAs: { input: step.resumed.payload } } as never) : step.suspend(null, { signal: "go" }),
  });
  const loop = { id: "loop", nodes: [{ id: "go", type: "go" }], edges: [] };
  /** Sends a signal; `meanwhile` is what others do before its commit is sent again. Returns the answer, and how many runs there were. */
  const sent = async (isTaken: boolean, meanwhile: (store: SnapshotStore, others: Runtime) => Promise<unknown>) => {
    const environment = virtualEnvironment();
    const inner = memoryStore({ now: () => environment.now() });
    const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", syscall: "read" });
    let tries = 0;
    const commit: SnapshotStore["commit"] = async (one) => {
      const isLost = tries++ === 0;
      if (isTaken || !isLost) await inner.commit(one);
      if (isLost) throw new StepfoldError("STORE_UNAVAILABLE", { store: "postgres", reason: "away" }, { cause: reset });
    };
    const code = { nodeDefinitions: { go }, workflows: [loop] };
    const { runtime: worker } = setUp({ store: inner, ...code, pollMs: 5 }, environment);
    const { runtime } = setUp({ store: { ...inner, commit }, ...code, drive: false }, environment);
    await worker.start("loop", { workflowId: "a" });
    await environment.settle();
    const answer = (await runtime.get("a")).signal("go", { payload: 1 }).then(
      () => "applied",
      (error: StepfoldError) => error.code,
    );
    await environment.advance(15);
    await meanwhile(inner, worker);
    await environment.advance(second);
    const head = await inner.loadHead("a");
    return [await answer, head && (head.run?.number ?? 1)];
  };
  const trim = (store: SnapshotStore) => store.trim({ before: Number.MAX_SAFE_INTEGER });

  it("is applied once if the store still knows it", async () => {
    expect(await sent(true, async () => undefined)).toEqual(["applied", 2]);
  });

  it("is told as unknown, and not applied again, if its event was trimmed since", async () => {
    expect(await sent(true, trim)).toEqual(["OUTCOME_UNKNOWN", 2]);
  });

  it("is applied if another commit shows that the store did not take it", async () => {
    const labelled = async (_store: SnapshotStore, others: Runtime) => (await others.get("a")).setMetadata({ seen: true });
    expect(await sent(false, labelled)).toEqual(["applied", 2]);
  });

  it("is told as unknown if the execution was deleted since", async () => {
    const deleted = async (store: SnapshotStore, others: Runtime) => {
      await (await others.get("a")).cancel();
      await store.delete("a");
    };
    expect(await sent(true, deleted)).toEqual(["OUTCOME_UNKNOWN", null]);
  });
});
