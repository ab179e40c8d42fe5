import { afterEach, describe, expect, it } from "vitest";
import type { WakeUp, WorkQueue } from "../../../src/ports/work-queue.ts";
import { memoryQueue } from "../../../src/queues/memory/memory-queue.ts";
import type { RuntimeOptions } from "../../../src/runtime/context/runtime-options.ts";
import { altered } from "../../../src/testing/broken/broken-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, hour, line, nodeDefinitions, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

/** What a worker has that lacks the code of all nodes. */
const lame = { workflows: [], nodeDefinitions: {}, onProblem: () => undefined };

describe("more executions than one claim moves, which a worker cannot run", () => {
  /** Executions that are due before another one, and a worker that has seen the first of them. */
  const behindMany = async (more: Partial<RuntimeOptions> = {}) => {
    const environment = virtualEnvironment();
    const { runtime, store } = setUp({ drive: false }, environment);
    await Promise.all(Array.from({ length: 4_500 }, () => runtime.start("talk")));
    const other = await runtime.start(line("rest", "sleep"), { input: { until: 0 } });
    const { say: _, ...others } = nodeDefinitions;
    const worker = setUp({ ...lame, store, nodeDefinitions: others, pollMs: hour, maxExecutions: 10, ...more }, environment);
    return { environment, other, worker: worker.runtime };
  };

  it("hold up the others for no poll: the next claim follows at once", async () => {
    const { environment, other } = await behindMany();
    await environment.advance(second);
    expect(await other.snapshot()).toMatchObject({ status: "completed" });
  });

  it("end no sweep", async () => {
    const { environment, other, worker } = await behindMany({ drive: false });
    const swept = worker.sweep();
    await environment.advance(second);
    expect(await swept).toMatchObject({ failed: [], isMore: false });
    expect(await other.snapshot()).toMatchObject({ status: "completed" });
  });
});

describe("an execution that a worker cannot run", () => {
  it("is given back at once, also if somebody has changed it since it was claimed", async () => {
    const environment = virtualEnvironment();
    const { runtime, store } = setUp({ drive: false }, environment);
    const run = await runtime.start("talk", { workflowId: "a" });
    const changing = altered(store, {
      async load(workflowId) {
        const snapshot = await store.load(workflowId);
        await run.setMetadata({ seen: true });
        return snapshot;
      },
    });
    setUp({ ...lame, store: changing, leaseMs: hour }, environment);
    await environment.advance(second);
    expect(await store.summaries!(["a"])).toMatchObject([{ lease: null }]);
    setUp({ store }, environment);
    await environment.advance(second);
    expect((await run.snapshot()).status).toBe("paused");
  });

  it.each([
    ["an hour behind", -hour],
    ["an hour ahead", hour],
  ])("is told to others again, also by a process whose clock is %s", async (_, skewMs) => {
    const environment = virtualEnvironment();
    const queue = memoryQueue({ environment });
    const { runtime, store } = setUp({ drive: false, queue }, environment);
    const sent: WakeUp[] = [];
    const noting: WorkQueue = {
      ...queue,
      async send(wakeUps) {
        sent.push(...wakeUps);
        await queue.send(wakeUps);
      },
    };
    const wrong = { ...environment, now: () => environment.now() + skewMs };
    setUp({ ...lame, taskQueues: ["mail"], store, queue: noting, pollMs: hour }, wrong);
    await runtime.start("talk", { workflowId: "a", startAt: environment.now() + second / 2 });
    await environment.advance(second);
    expect(sent.map(({ workflowId, delayMs }) => [workflowId, delayMs])).toContainEqual(["a", 200]);
  });
});
