import { afterEach, describe, expect, it } from "vitest";
import type { WakeUp, WorkQueue } from "../../../src/ports/work-queue.ts";
import { memoryQueue } from "../../../src/queues/memory/memory-queue.ts";
import { altered } from "../../../src/testing/broken/broken-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, hour, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

/** What a worker has that lacks the code of all nodes. */
const lame = { workflows: [], nodeDefinitions: {}, onProblem: () => undefined };

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
