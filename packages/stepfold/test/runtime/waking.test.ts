import { afterEach, describe, expect, it } from "vitest";
import { defineNode } from "../../src/engine/node/define-node.ts";
import type { WakeUp } from "../../src/ports/work-queue.ts";
import { memoryQueue } from "../../src/queues/memory/memory-queue.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { deferred } from "../engine/engine.fixture.ts";
import { closeAll, hour, line, nodeDefinitions, second, setUp } from "./runtime.fixture.ts";

afterEach(closeAll);

const longest = { leaseMs: 30 * second, pollMs: 12 * hour };

/**
 * Opens a process with a worker that runs the execution `w`. From `hold` on, the answers to commits that give the claim back are late: they
 * come when `answer` is called, and until then the worker does not know that its session has ended.
 */
function withLateAnswers(more: object = {}) {
  const environment = virtualEnvironment();
  const inner = memoryStore({ now: environment.now });
  const gate = deferred<void>();
  let isHeld = false;
  const store: typeof inner = {
    ...inner,
    commit: async (commit) => {
      await inner.commit(commit);
      if (isHeld && commit.release) await gate.promise;
    },
  };
  const queue = memoryQueue({ environment });
  const sent: WakeUp[] = [];
  const send: typeof queue.send = (wakeUps) => {
    sent.push(...wakeUps);
    return queue.send(wakeUps);
  };
  const nap = defineNode({
    executor: (_data, step) => (step.resumed ? { data: "slept" } : { __pause: true, resumeAt: environment.now() + hour }),
  });
  const given = { store, queue: { ...queue, send }, nodeDefinitions: { ...nodeDefinitions, nap }, ...longest, ...more };
  const { runtime } = setUp({ ...given, workflows: [line("talk", "ask", "say"), line("timed", "nap", "say")] }, environment);
  const client = setUp({ store: inner, drive: false, workflows: [] }, environment).runtime;
  const hold = () => {
    isHeld = true;
  };
  const answer = async () => {
    isHeld = false;
    gate.resolve();
    await environment.settle();
  };
  return { environment, runtime, client, sent, hold, answer };
}

describe("a session that is woken just before it ends", () => {
  it("passes the wake-up on, also where no slot is free for its execution", async () => {
    const { environment, runtime, hold, answer } = withLateAnswers({ maxExecutions: 1 });
    hold();
    const run = await runtime.start("talk", { workflowId: "w" });
    await environment.advance(10);
    await run.resume({ payload: { approved: true } });
    await answer();
    await environment.advance(10);
    expect((await run.snapshot()).status).toBe("completed");
  });

  it("has the queue told of a later due time that a restart has set", async () => {
    const { environment, runtime, client, sent, hold, answer } = withLateAnswers();
    hold();
    const run = await runtime.start("timed", { workflowId: "w" });
    await environment.advance(second);
    await (await client.get("w")).cancel();
    await environment.advance(second);
    await run.restart();
    await answer();
    // the time between the cancellation and the restart does not count
    expect(sent.map(({ delayMs }) => delayMs)).toEqual([hour - 2 * second + 2, hour - second + 2]);
    await environment.advance(hour);
    expect((await run.snapshot()).status).toBe("completed");
  });
});

describe("a session that is woken while it reads its execution", () => {
  it("reads it once more, because the answer may be from before the change", async () => {
    const environment = virtualEnvironment();
    const inner = memoryStore({ now: environment.now });
    const gate = deferred<void>();
    let isLate = false;
    const store: typeof inner = {
      ...inner,
      load: async (workflowId) => {
        const snapshot = await inner.load(workflowId);
        if (isLate) {
          isLate = false;
          await gate.promise;
        }
        return snapshot;
      },
      commit: async (commit) => {
        await inner.commit(commit);
        isLate ||= commit.events.some(({ type }) => type === "signalled");
      },
    };
    const workflow = {
      id: "forked",
      start: "fork",
      nodes: ["fork", "stuck", "ask", "say"].map((id) => ({ id, type: id === "fork" ? "say" : id })),
      edges: [
        { source: "fork", target: "stuck" },
        { source: "fork", target: "ask" },
        { source: "ask", target: "say" },
      ],
    };
    const { runtime } = setUp({ store, workflows: [workflow], ...longest }, environment);
    const run = await runtime.start("forked", { workflowId: "w" });
    await environment.settle();
    // the session reads the signal, which nothing waits for, and the answer comes meanwhile
    await run.signal("bell", {});
    await run.resume({ step: "ask", payload: { approved: true } });
    await environment.settle();
    gate.resolve();
    await environment.advance(10);
    expect((await run.snapshot()).context).toMatchObject({ say: [{}] });
  });
});
