import { afterEach, describe, expect, it } from "vitest";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, dying, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

describe("an execution whose step is performed now", () => {
  it("says so in every process, and which one runs it, as long as the lease lasts", async () => {
    const environment = virtualEnvironment();
    const mortal = dying(environment);
    const { runtime, store } = setUp({ environment: mortal.environment, owner: "worker-3" }, environment);
    const { workflowId } = await runtime.start("hang", { workflowId: "a" });
    await environment.advance(5 * second);
    const asked: string[] = [];
    const counted = {
      ...store,
      workers: async () => {
        asked.push("workers");
        return [];
      },
    };
    const there = await setUp({ store: counted, drive: false }, environment).runtime.get(workflowId);
    const told = await there.explain();
    expect(told).toMatchObject({ worker: "worker-3", sentence: "stuck1 is running.", places: [{ sentence: "is running" }] });
    expect(asked, "reads of who could run it").toEqual([]);
    mortal.die();
    await environment.advance(60 * second);
    const left = await there.explain();
    expect([left.sentence, left.worker, asked]).toEqual(["stuck1 is ready to run.", undefined, ["workers"]]);
  });

  it("is not asked for while nothing is to run", async () => {
    const { runtime, store, environment } = setUp({ drive: true });
    const run = await runtime.start("talk", { workflowId: "a" });
    await environment.advance(5 * second);
    const refuses = { ...store, summaries: () => Promise.reject(new Error("asked")) };
    const there = await setUp({ store: refuses, drive: false }, environment).runtime.get(run.workflowId);
    expect(await there.explain()).not.toHaveProperty("worker");
    expect((await there.explain()).sentence).toContain("ask1 waits for an answer");
  });
});
