import { describe, expect, it } from "vitest";
import { explain } from "../../../src/core/explain/explain.ts";
import { waits } from "../../../src/core/explain/waits.ts";
import { readSnapshot } from "../../../src/core/reading/read-snapshot.ts";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { apply } from "../../../src/core/transition/apply.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { viaJson } from "../engine.fixture.ts";
import { VirtualEnvironment } from "../virtual-environment.fixture.ts";

const minuteMs = 60_000;
const ask = { id: "ask", nodes: [{ id: "answer", type: "approval" }], edges: [] };

/**
 * An engine of a workflow whose node `whole` runs a sub-workflow, by default `ask`, and then the node `after`. `whole` has further members
 * of the node; `failures.left` is how many more steps of type `flaky` fail.
 */
function engineOf(whole: object, more: { readonly workflow?: object; readonly edges?: readonly object[]; readonly own?: object } = {}) {
  const clock = new VirtualEnvironment();
  const failures = { left: 0, begun: 0 };
  const nodeDefinitions = {
    ...builtinNodes,
    flaky: defineNode({
      executor: () => {
        failures.begun++;
        if (failures.left-- > 0) throw new Error("not yet");
        return { data: "done" };
      },
    }),
    seen: defineNode({ executor: (data) => ({ data }) }),
  };
  const workflow = {
    id: "w",
    ...more.own,
    nodes: [
      { id: "whole", type: "workflow", data: { workflow: "inner" }, ...whole },
      { id: "after", type: "seen", data: "{{ $json }}" },
    ],
    edges: [{ source: "whole", target: "after" }, ...(more.edges ?? [])],
    workflows: { inner: more.workflow ?? ask },
  };
  const engine = new WorkflowEngine({ workflow: workflow as never, nodeDefinitions, environment: clock });
  const go = async (from: object = { workflowId: "x" }): Promise<Snapshot> => viaJson(await engine.execute(from as never)) as Snapshot;
  const later = async (snapshot: Snapshot, ms: number): Promise<Snapshot> => {
    clock.set(clock.now() + ms);
    return go({ snapshot });
  };
  return { engine, clock, failures, go, later };
}

/** A sub-workflow that pays and goes on with the node `next`. If it fails, the compensation pays the money back. */
const paying = (next: { readonly id: string; readonly type: string }): object => ({
  id: "inner",
  nodes: [{ id: "pay", type: "noop", compensate: { type: "seen", data: "paid back" } }, next],
  edges: [{ source: "pay", target: next.id }],
});

const byTimeout = [{ source: "whole", target: "after", sourceHandle: "timeout" }];

describe("a sub-workflow with a timeout", () => {
  it("is cancelled when its time is over, and the path leaves by the handle timeout", async () => {
    const { engine, clock, go, later } = engineOf({ timeout: "5m" }, { edges: byTimeout });
    const paused = await go();
    expect(readSnapshot(paused as never, engine.workflow)).toEqual(paused);
    expect(waits(paused)).toMatchObject([
      { kind: "children", address: "whole", timeoutAt: clock.now() + 5 * minuteMs, answer: null },
      { kind: "external", address: "whole/answer" },
    ]);
    expect(explain(paused, engine.workflow).sentence).toContain("answer");
    const waiting = await later(paused, 5 * minuteMs - 1);
    expect(waiting.status).toBe("paused");
    const late = await later(waiting, 1);
    expect(late).toMatchObject({ status: "completed", output: null });
    expect(late.context.whole).toMatchObject([{ error: expect.stringContaining("is not done in time") }]);
    expect(late).not.toHaveProperty("childStates");
  });

  it("fails the execution where no edge takes that, with a code and the time", async () => {
    const { go, later } = engineOf({ timeout: "5m" });
    const late = await later(await go(), 5 * minuteMs);
    expect(late).toMatchObject({ status: "failed", error: { code: "STEP_TIMEOUT", nodeId: "whole" } });
    expect(late.error!.message).toMatch(/had to end by \d{4}-/);
  });

  it("is done in time if it was answered, and no timer is left", async () => {
    const { engine, go, later } = engineOf({ timeout: "5m" }, { edges: byTimeout });
    const done = await go({ snapshot: await go(), externalPayload: { approved: true } });
    expect(done).toMatchObject({ status: "completed", output: { approved: true } });
    expect(waits(done)).toEqual([]);
    expect((await later(done, 10 * minuteMs)).version).toBe(done.version);
    expect(engine.workflow.nodes.get("whole")!.timeoutMs).toBe(5 * minuteMs);
  });

  it("cannot be answered as such: only what is in it", async () => {
    const { engine, go } = engineOf({ timeout: "5m" });
    const paused = await go();
    await expect(engine.send(paused, { type: "resume", target: "whole", payload: {} })).rejects.toMatchObject({ code: "WAIT_GONE" });
    const [whole] = waits(paused);
    await expect(engine.send(paused, { type: "resume", target: { waitId: whole!.id }, payload: {} })).rejects.toMatchObject({
      code: "WAIT_GONE",
    });
  });

  it("is not woken by an event that names its time", async () => {
    const { engine, go } = engineOf({ timeout: "5m" });
    const paused = await go();
    const [wait] = paused.activePaths[0]!.waits!;
    const event = { type: "resumed", version: paused.version + 1, at: 1, pathId: "0", waitId: wait!.id, by: "payload" } as const;
    expect(apply(engine.workflow, paused, event)).toBe(paused);
  });

  it("may have an expression as its time, and no longer one than timers may", async () => {
    const { go, clock } = engineOf({ timeout: "{{ input.minutes }}m" });
    const paused = await go({ workflowId: "x", input: { minutes: 3 } });
    expect(paused.activePaths[0]!.waits![0]!.timeoutAt).toBe(clock.now() + 3 * minuteMs);
    const { go: again } = engineOf({ timeout: "4000 days" });
    expect(await again()).toMatchObject({ status: "failed", error: { code: "LIMIT_EXCEEDED" } });
  });

  it("undoes what it has done before the path goes on without it", async () => {
    const { go, later } = engineOf({ timeout: "5m" }, { workflow: paying({ id: "answer", type: "approval" }) });
    const late = await later(await go(), 5 * minuteMs);
    expect(late).toMatchObject({ status: "failed", error: { code: "STEP_TIMEOUT" } });
    expect(late.compensations).toMatchObject([{ nodeId: "pay", output: "paid back" }]);
  });
});

describe("a sub-workflow that is being undone when its time is over", () => {
  it("goes on with that, and the path leaves without it", async () => {
    const undone = {
      id: "inner",
      nodes: [
        { id: "pay", type: "noop", compensate: { type: "approval" } },
        { id: "no", type: "fail", data: { message: "no" } },
      ],
      edges: [{ source: "pay", target: "no" }],
    };
    const { engine, go, later } = engineOf({ timeout: "5m" }, { workflow: undone, edges: byTimeout });
    const late = await later(await go(), 5 * minuteMs);
    expect(late).toMatchObject({ status: "paused", activePaths: [{ nodeId: "whole", draining: true }] });
    expect(late.activePaths[0]).not.toHaveProperty("waits");
    expect(readSnapshot(late as never, engine.workflow)).toEqual(late);
    expect(await go({ snapshot: late, externalPayload: { approved: true } })).toMatchObject({ status: "completed" });
  });
});

describe("a map with a timeout", () => {
  it("cancels the items that have not ended", async () => {
    const { go, later } = engineOf(
      { type: "map", timeout: "5m", data: { workflow: "inner", items: [1, 2], concurrency: 1, open: true } },
      { edges: byTimeout },
    );
    const paused = await go();
    const late = await later(paused, 5 * minuteMs);
    expect(late).toMatchObject({ status: "completed", output: null });
    expect(late).not.toHaveProperty("mapItems");
  });
});

describe("a sub-workflow with a retry policy", () => {
  const retryPolicy = { maxAttempts: 3, interval: "1m", backoff: "exponential" } as const;
  const flaky = { id: "inner", nodes: [{ id: "try", type: "flaky" }], edges: [] };

  it("is begun once more, from its start, after its delay", async () => {
    const { failures, go, later, engine, clock } = engineOf({ retryPolicy }, { workflow: flaky });
    failures.left = 2;
    const first = await go();
    const nextRetryAt = clock.now() + minuteMs;
    expect(first).toMatchObject({ status: "error", activePaths: [{ nodeId: "whole", status: "retrying", attempts: 1, nextRetryAt }] });
    expect(readSnapshot(first as never, engine.workflow)).toEqual(first);
    const second = await later(first, minuteMs);
    expect(second).toMatchObject({ status: "error", activePaths: [{ attempts: 2, nextRetryAt: clock.now() + 2 * minuteMs }] });
    const third = await later(second, 2 * minuteMs);
    expect(third).toMatchObject({ status: "completed", output: "done" });
    expect(third.context.whole!.map(({ attempt, error }) => [attempt, error])).toEqual([
      [1, "not yet"],
      [2, "not yet"],
      [3, undefined],
    ]);
    expect(failures.begun).toBe(3);
  });

  it("fails with the last error when its attempts are used up, by the edge error if there is one", async () => {
    const edges = [{ source: "whole", target: "after", sourceHandle: "error" }];
    const { failures, go, later } = engineOf({ retryPolicy: { ...retryPolicy, maxAttempts: 2 } }, { workflow: flaky, edges });
    failures.left = 9;
    const ended = await later(await go(), minuteMs);
    expect(ended).toMatchObject({ status: "completed", output: { message: "not yet" } });
  });

  it("is begun again only if retryIf holds", async () => {
    const { failures, go } = engineOf({ retryPolicy: { ...retryPolicy, retryIf: "error.message === 'other'" } }, { workflow: flaky });
    failures.left = 1;
    expect(await go()).toMatchObject({ status: "failed", error: { message: "not yet" } });
  });

  it("fails with what is wrong if its policy gives no number", async () => {
    const { failures, go } = engineOf({ retryPolicy: { ...retryPolicy, interval: "{{ input.none }}" } }, { workflow: flaky });
    failures.left = 1;
    const failed = await go();
    expect(failed).toMatchObject({ status: "failed", error: { code: "RETRY_POLICY_INVALID" } });
    expect(failed.error!.message).toContain("(after: not yet)");
  });

  it("is begun again when it was not done in time, too", async () => {
    const { go, later } = engineOf({ retryPolicy: { ...retryPolicy, maxAttempts: 2 }, timeout: "5m" });
    const late = await later(await go(), 5 * minuteMs);
    expect(late).toMatchObject({ status: "error", activePaths: [{ status: "retrying" }] });
    const again = await later(late, minuteMs);
    expect(again.status).toBe("paused");
    const done = await go({ snapshot: again, externalPayload: { approved: true } });
    expect(done).toMatchObject({ status: "completed", output: { approved: true } });
  });

  it("undoes what it had done before it is begun again", async () => {
    const { failures, go, later } = engineOf({ retryPolicy }, { workflow: paying({ id: "try", type: "flaky" }) });
    failures.left = 1;
    const first = await go();
    expect(first.compensations).toHaveLength(1);
    const done = await later(first, minuteMs);
    expect(done).toMatchObject({ status: "completed", output: "done" });
    expect(done.compensations).toHaveLength(1);
  });

  it("begins a map again with all its items", async () => {
    const { failures, go, later } = engineOf(
      { type: "map", retryPolicy, data: { workflow: "inner", items: [1, 2, 3], concurrency: 1 } },
      { workflow: flaky },
    );
    failures.left = 1;
    const first = await go();
    expect(first).toMatchObject({ status: "error" });
    expect(await later(first, minuteMs)).toMatchObject({ status: "completed", output: ["done", "done", "done"] });
  });
});

describe("a sub-workflow with an incident", () => {
  const flaky = { id: "inner", nodes: [{ id: "try", type: "flaky" }], edges: [] };

  it("waits for a decision when it has failed for good, and is begun again by retry", async () => {
    const { failures, go, engine } = engineOf({ incident: true }, { workflow: flaky });
    failures.left = 1;
    const open = await go();
    expect(waits(open)).toMatchObject([{ kind: "incident", address: "whole", payload: { error: { message: "not yet" }, attempt: 1 } }]);
    expect(readSnapshot(open as never, engine.workflow)).toEqual(open);
    const done = await go({ snapshot: open, externalPayload: { action: "retry" } });
    expect(done).toMatchObject({ status: "completed", output: "done" });
    const skipped = await go({ snapshot: open, externalPayload: { action: "skip", output: 7 } });
    expect(skipped).toMatchObject({ status: "completed", output: 7 });
  });

  it("does so where its workflow says it", async () => {
    const { failures, go } = engineOf({}, { workflow: flaky, own: { incident: true } });
    failures.left = 1;
    expect(waits(await go())).toMatchObject([{ kind: "incident" }]);
  });
});
