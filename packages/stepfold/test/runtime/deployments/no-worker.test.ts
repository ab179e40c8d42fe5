import { afterEach, describe, expect, it } from "vitest";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, nodeDefinitions, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const beating = { beatMs: second };

/** An execution of `talk`, and workers that lack the code of its nodes. */
async function lacking(more: object = {}, taskQueue?: string) {
  const environment = virtualEnvironment();
  const { runtime, store } = setUp({ drive: false }, environment);
  const run = await runtime.start("talk", { workflowId: "a", ...(taskQueue && { taskQueue }) });
  const lame = setUp({ store, workflows: [], nodeDefinitions: {}, ...beating, ...more }, environment);
  await environment.advance(5 * second);
  return { environment, runtime, store, run, lame: lame.runtime };
}

describe("an execution that no living worker can run", () => {
  it("says so, with the type that is missing and since when, until a worker comes that can", async () => {
    const { environment, run, store } = await lacking();
    const { noWorker, sentence } = await run.explain();
    expect(sentence).toBe("say0 is ready to run.");
    expect(noWorker).toMatch(/^Since 2026-\S+Z no living worker can run it: Workflow "talk" cannot run: \/nodes\/0\/type: .*"say".*\.$/);
    const able = setUp({ store, ...beating, drive: false }, environment);
    able.runtime.work();
    await environment.advance(5 * second);
    expect(await run.explain()).not.toHaveProperty("noWorker");
    expect((await run.snapshot()).status).toBe("paused");
  });

  it("says that nobody takes its task queue", async () => {
    const { run } = await lacking({ nodeDefinitions, taskQueues: ["mail"] }, "gpu");
    expect((await run.explain()).noWorker).toBe('No living worker takes the task queue "gpu".');
  });

  it("says nothing while no worker reports, and nothing of one that has ended", async () => {
    const silent = await lacking({ beatMs: undefined });
    expect(await silent.run.explain()).not.toHaveProperty("noWorker");
    await silent.run.cancel();
    expect(await silent.run.explain()).not.toHaveProperty("noWorker");
  });

  it("is in the list of workers, and is forgotten with them", async () => {
    const { environment, runtime, lame } = await lacking();
    expect(await runtime.workers()).toMatchObject([{ lacks: [{ workflow: "talk", code: "DEFINITION_INVALID" }] }]);
    void lame.close({ timeoutMs: 1 });
    await environment.advance(5 * second);
    expect(await runtime.workers()).toEqual([]);
  });
});
