import { afterEach, describe, expect, it } from "vitest";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const talk = {
  id: "talk",
  nodes: [
    { id: "nap", type: "wait", data: { for: "10s" } },
    { id: "ask", type: "approval", data: { title: "May I?" } },
    { id: "go", type: "signal", data: { name: "paid" } },
  ],
  edges: [
    { source: "nap", target: "ask" },
    { source: "ask", target: "go", sourceHandle: "approved" },
  ],
};

/** A worker, and a process that only waits. */
async function begin() {
  const environment = virtualEnvironment();
  const store = memoryStore({ now: environment.now });
  const options = { store, nodeDefinitions: builtinNodes as never, workflows: [talk] };
  const worker = setUp(options, environment);
  const waiter = setUp({ ...options, drive: false }, environment);
  const here = await worker.runtime.start("talk", { workflowId: "w" });
  return { environment, here, there: await waiter.runtime.get("w") };
}

describe.each(["here", "there"] as const)("run.waitFor, of an execution that runs %s", (where) => {
  it("gives the wait once it is open, in a way that it can be answered", async () => {
    const { environment, here, [where]: run } = await begin();
    const any = run.waitFor({});
    const asked = run.waitFor({ step: "ask" });
    const paid = run.waitFor({ signal: "paid" });
    await environment.advance(12 * second);
    expect(await any).toEqual(await asked);
    const { id, address } = await asked;
    expect(address).toBe("ask");
    await here.resume({ waitId: id, payload: { approved: true } });
    await environment.advance(2 * second);
    expect(await paid).toMatchObject({ nodeId: "go", signal: "paid" });
  });

  it("gives the snapshot once it has a status", async () => {
    const { environment, here, [where]: run } = await begin();
    const ended = run.waitFor(["completed", "cancelled"]);
    const failed = run.waitFor("failed");
    failed.catch(() => undefined);
    await environment.settle();
    expect((await run.waitFor("paused")).status).toBe("paused");
    await here.cancel();
    await environment.advance(second);
    expect((await ended).status).toBe("cancelled");
    await expect(failed).rejects.toMatchObject({ code: "EXECUTION_ENDED", details: { status: "cancelled" } });
    await expect(run.waitFor({ step: "ask" })).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
  });

  it("ends after its time and with its signal", async () => {
    const { environment, [where]: run } = await begin();
    const late = expect(run.waitFor({ step: "go" }, { timeoutMs: 500 })).rejects.toMatchObject({ code: "NOT_IN_TIME" });
    await environment.advance(second);
    await late;
    await expect(run.waitFor("completed", { signal: AbortSignal.abort(new RangeError("gone")) })).rejects.toThrow("gone");
  });

  it("refuses what is neither a status nor a wait", async () => {
    const { [where]: run } = await begin();
    for (const wrong of ["bogus", [], ["paused", "x"], 7, null, { step: 7 }, { step: "a", item: -1 }]) {
      await expect(run.waitFor(wrong as never), JSON.stringify(wrong)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    }
    await expect(run.waitFor({ node: "a" } as never)).rejects.toMatchObject({ code: "OPTION_UNKNOWN" });
  });
});

describe("a run", () => {
  it("tells what it waits for, and where it stands, also where nobody has the code of its nodes", async () => {
    const { environment, here, there } = await begin();
    await environment.advance(12 * second);
    expect(await there.waits()).toMatchObject([{ address: "ask", answer: { type: "resume" } }]);
    expect(await there.explain()).toEqual(await here.explain());
    expect((await there.explain()).sentence).toContain("ask waits for an answer");
    await here.cancel();
    expect(await here.waits()).toEqual([]);
  });
});
