import { afterEach, describe, expect, it } from "vitest";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import type { Commit } from "../../../src/ports/snapshot-store.ts";
import { memoryQueue } from "../../../src/queues/memory/memory-queue.ts";
import type { RuntimeOptions } from "../../../src/runtime/context/runtime-options.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { deferred } from "../../engine/engine.fixture.ts";
import { closeAll, hour, line, nodeDefinitions, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

/**
 * Opens a worker that polls twice a day, and a process that only passes calls on. The first call of the node `work` runs until it is
 * aborted, and all later ones end at once.
 */
function processes(more: (environment: ReturnType<typeof virtualEnvironment>) => Partial<RuntimeOptions> = () => ({})) {
  const environment = virtualEnvironment();
  const store = memoryStore({ now: environment.now, idempotencyRetentionMs: 0 });
  const done: string[] = [];
  const problems: unknown[] = [];
  const onProblem = (_: string | null, error: unknown): unknown => problems.push(error);
  const work = defineNode({
    executor: (_data, { idempotencyKey, signal }) => {
      done.push(`work ${idempotencyKey}`);
      if (done.length > 1) return { data: idempotencyKey };
      return new Promise<{ data: string }>((resolve) => {
        signal.addEventListener("abort", () => {
          done.push("aborted");
          resolve({ data: "from before the restart" });
        });
      });
    },
  });
  const workflows = [line("long", "work", "say")];
  const given = { store, nodeDefinitions: { ...nodeDefinitions, work }, workflows, onProblem, ...more(environment) };
  const worker = setUp({ ...given, leaseMs: 30 * second, pollMs: 12 * hour }, environment).runtime;
  const client = setUp({ ...given, drive: false }, environment).runtime;
  return { environment, worker, client, done, problems };
}

/** Starts an execution in the worker. Then the other process cancels it, which the worker learns when it renews its claim. */
async function cancelledElsewhere({ environment, worker, client }: ReturnType<typeof processes>) {
  const run = await worker.start("long", { workflowId: "w" });
  await environment.advance(second);
  const there = await client.get("w");
  await there.cancel();
  return { run, there };
}

describe("an execution that another process has cancelled while a worker runs it", () => {
  it("goes on at once when the worker's process restarts it, and the step of the time before is aborted", async () => {
    const all = processes();
    const { run } = await cancelledElsewhere(all);
    await run.restart();
    await all.environment.advance(10);
    expect(all.done).toEqual(["work w/0#1", "aborted", "work w/0#1"]);
    expect(await run.snapshot()).toMatchObject({ status: "completed", context: { work0: [{ output: "w/0#1" }] } });
  });

  it("goes on at once when the other process restarts it, and what the step of the time before gives does not count", async () => {
    const all = processes((environment) => ({ queue: memoryQueue({ environment }) }));
    const { there } = await cancelledElsewhere(all);
    await there.restart();
    await all.environment.advance(10);
    expect(all.done).toEqual(["work w/0#1", "aborted", "work w/0#1"]);
    expect(await there.snapshot()).toMatchObject({ status: "completed", context: { work0: [{ output: "w/0#1" }] } });
  });

  it("goes on at once when the other process restarts it with another definition", async () => {
    const all = processes((environment) => ({ queue: memoryQueue({ environment }) }));
    const { there } = await cancelledElsewhere(all);
    await there.restart({ definition: line("long", "work", "say", "say") });
    await all.environment.advance(10);
    expect(all.done).toEqual(["work w/0#1", "aborted", "work w/0#1"]);
    expect(await there.snapshot()).toMatchObject({ status: "completed", context: { say2: [{}] } });
  });

  it("goes on at once although the worker is just committing what its step has done", async () => {
    const gate = deferred<void>();
    const refused: unknown[] = [];
    let isSlow = false;
    const all = processes((environment) => {
      const store = memoryStore({ now: environment.now });
      const commit = async (commit: Commit): Promise<void> => {
        if (commit.fence !== undefined && commit.expectedVersion === 0) await gate.promise;
        isSlow = commit.reopens === true;
        await store.commit(commit).catch((error: unknown) => {
          if (StepfoldError.is(error)) refused.push(error.code);
          throw error;
        });
      };
      // the worker reads slowly, so that its commit is refused before it knows of the restart
      const load = async (workflowId: string): Promise<Snapshot | null> => {
        if (isSlow) await new Promise<void>((resolve) => void environment.after(5, resolve));
        return store.load(workflowId);
      };
      return { store: { ...store, commit, load }, queue: memoryQueue({ environment }), workflows: [line("long", "say", "say")] };
    });
    const { there } = await cancelledElsewhere(all);
    await there.restart();
    await all.environment.settle();
    gate.resolve();
    await all.environment.advance(20);
    expect(refused).toEqual(["FENCE_LOST", "VERSION_CONFLICT"]);
    expect(await there.snapshot()).toMatchObject({ status: "completed", context: { say0: [{}], say1: [{}] } });
    expect(all.problems).toEqual([]);
  });

  it("leaves its id, once it is deleted, to an execution that runs in the worker at once", async () => {
    const all = processes();
    await cancelledElsewhere(all);
    await all.environment.advance(1);
    expect(await all.client.prune({ before: all.environment.now() })).toMatchObject({ executions: 1 });
    const run = await all.worker.start("long", { workflowId: "w" });
    await all.environment.advance(10);
    expect(all.done).toEqual(["work w/0#1", "aborted", "work w/0#1"]);
    expect((await run.snapshot()).status).toBe("completed");
  });
});
