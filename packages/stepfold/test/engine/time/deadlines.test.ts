import { describe, expect, it } from "vitest";
import { explain } from "../../../src/core/explain/explain.ts";
import type { Event } from "../../../src/core/snapshot/event.ts";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { apply } from "../../../src/core/transition/apply.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { flow, type Step } from "../../nodes/workflow.fixture.ts";
import { viaJson } from "../engine.fixture.ts";
import { VirtualEnvironment } from "../virtual-environment.fixture.ts";

const minuteMs = 60_000;
const begins = 1_000_000;
const timedOut = { status: "failed", error: { code: "EXECUTION_TIMED_OUT" } };

/** An engine of a workflow on a virtual clock, with a list of the nodes that were performed. */
function engineOf(workflow: object) {
  const clock = new VirtualEnvironment(begins);
  const done: string[] = [];
  const nodeDefinitions = {
    ...builtinNodes,
    say: defineNode({
      executor: (_data, step) => {
        done.push(step.nodeId);
        return { data: step.nodeId };
      },
    }),
    back: defineNode({
      executor: (_data, step) => {
        done.push(`${step.nodeId} undone`);
        return { data: null };
      },
    }),
    stuck: defineNode({
      executor: (_data, step) =>
        new Promise((_, reject) => {
          step.signal.addEventListener("abort", () => {
            done.push("aborted");
            reject(step.signal.reason);
          });
        }),
    }),
    broken: defineNode({
      retryPolicy: { maxAttempts: 10, interval: "1h", backoff: "fixed" },
      executor: () => {
        throw new Error("not yet");
      },
    }),
  };
  const engine = new WorkflowEngine({ workflow: workflow as never, nodeDefinitions, environment: clock });
  const at = async (ms: number, snapshot: Snapshot): Promise<Snapshot> => {
    clock.set(begins + ms);
    return viaJson(await engine.execute({ snapshot: viaJson(snapshot) })) as Snapshot;
  };
  return { engine, clock, done, at };
}

const asking = (more: object = {}): object =>
  flow("w", { first: "say", ask: "approval", last: "say" }, ["first>ask", "ask>last@approved"], more);

describe("an execution with a timeout", () => {
  it("fails when its time is over, and nothing that follows is performed", async () => {
    const { engine, done, at } = engineOf(asking({ timeout: "10m" }));
    const waiting = await engine.execute({ workflowId: "x" });
    expect(waiting).toMatchObject({ status: "paused", deadlineAt: begins + 10 * minuteMs });
    expect(waiting).not.toHaveProperty("givenTime");
    expect(await at(10 * minuteMs - 1, waiting)).toMatchObject({ status: "paused" });
    const late = await at(10 * minuteMs, waiting);
    expect(late).toMatchObject({ ...timedOut, currentNodeId: "ask", version: waiting.version + 1 });
    expect(late.error?.message).toBe('Execution "x" had to end by 1970-01-01T00:26:40.000Z');
    expect(done).toEqual(["first"]);
  });

  it("may say it as an expression over input and metadata", async () => {
    const { engine } = engineOf(asking({ timeout: "{{ input.urgent ? metadata.short : '1d' }}" }));
    const metadata = { short: "5m" };
    expect(await engine.execute({ input: { urgent: true }, metadata })).toMatchObject({ deadlineAt: begins + 5 * minuteMs });
    expect(await engine.execute({ input: { urgent: false }, metadata })).toMatchObject({ deadlineAt: begins + 1_440 * minuteMs });
    await expect(engine.execute({})).rejects.toMatchObject({ code: "EXPRESSION_FAILED" });
    await expect(engine.execute({ input: { urgent: true }, metadata: { short: "soon" } })).rejects.toMatchObject({
      code: "DURATION_INVALID",
    });
    await expect(engine.execute({ input: { urgent: true }, metadata: { short: "9999d" } })).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
    });
  });

  it("is part of what a definition is, and checked with it", () => {
    const hashOf = (more: object): string => engineOf(asking(more)).engine.workflow.hash;
    expect(hashOf({ timeout: "10m" })).not.toBe(hashOf({}));
    const issuesOf = (timeout: unknown): unknown => {
      try {
        return engineOf(asking({ timeout }));
      } catch (error) {
        return (error as { details: unknown }).details;
      }
    };
    expect(issuesOf("soon")).toMatchObject({ issues: [{ code: "DURATION_INVALID", pointer: "/timeout" }, { code: "HANDLE_UNUSED" }] });
    expect(issuesOf("{{ input. }}")).toMatchObject({
      issues: [{ code: "EXPRESSION_INVALID", pointer: "/timeout" }, { code: "HANDLE_UNUSED" }],
    });
    expect(() => engineOf(asking({ deadline: "1h" }))).toThrow('Did you mean "timeout"?');
  });

  it("has as much time as its start says, if that is less", async () => {
    const { engine } = engineOf(asking({ timeout: "10m" }));
    const deadlineOf = async (options: object): Promise<unknown> => {
      const { deadlineAt, givenTime } = await engine.execute(options);
      return [deadlineAt! - begins, givenTime?.timeoutMs];
    };
    expect(await deadlineOf({ timeout: "2m" })).toEqual([2 * minuteMs, 2 * minuteMs]);
    expect(await deadlineOf({ timeout: 20 * minuteMs })).toEqual([10 * minuteMs, 20 * minuteMs]);
    expect(await deadlineOf({ timeout: "8m", deadline: "1970-01-01T00:20:00Z" })).toEqual([1_200_000 - begins, 1_200_000 - begins]);
    expect(await deadlineOf({ timeout: "1m", deadline: begins + 3 * minuteMs })).toEqual([minuteMs, minuteMs]);
    for (const [options, code] of [
      [{ deadline: "soon" }, "OPTION_INVALID"],
      [{ deadline: -1 }, "OPTION_INVALID"],
      [{ timeout: "soon" }, "DURATION_INVALID"],
      [{ timeout: -1 }, "DURATION_INVALID"],
      [{ timeout: "9999d" }, "LIMIT_EXCEEDED"],
    ] as const)
      await expect(engine.execute(options)).rejects.toMatchObject({ code });
  });

  it("fails before its first step if the deadline had passed when it was started", async () => {
    const { engine, done } = engineOf(asking());
    expect(await engine.execute({ deadline: begins - 1 })).toMatchObject(timedOut);
    expect(done).toEqual([]);
  });

  it("aborts the step that is running, also while nothing else happens", async () => {
    const { engine, clock, done } = engineOf(flow("w", { work: "stuck" }, [], { timeout: "2m" }));
    const running = engine.execute({ workflowId: "x" });
    await clock.advance(2 * minuteMs - 1);
    expect(done).toEqual([]);
    await clock.advance(1);
    expect(await running).toMatchObject(timedOut);
    expect(done).toEqual(["aborted"]);
  });

  it("does not wait for a retry", async () => {
    const { engine, clock, at } = engineOf(flow("w", { work: "broken" }, [], { timeout: "90m" }));
    const failing = await engine.execute({ workflowId: "x" });
    expect(failing).toMatchObject({ status: "error" });
    clock.set(begins + 90 * minuteMs);
    expect(await at(90 * minuteMs, failing)).toMatchObject({ ...timedOut, context: { work: [{ attempt: 1 }] } });
  });

  it("undoes what it did, however long that takes, and its deadline does not count then", async () => {
    const steps: Record<string, Step> = { pay: "say", ask: "approval" };
    const made = flow("w", steps, ["pay>ask"], { timeout: "10m" }) as { nodes: object[] };
    const workflow = {
      ...made,
      nodes: made.nodes.map((node) => ((node as { id: string }).id === "pay" ? { ...node, compensate: { type: "approval" } } : node)),
    };
    const { engine, at } = engineOf(workflow);
    const undoing = await at(11 * minuteMs, await engine.execute({ workflowId: "x" }));
    expect(undoing).toMatchObject({ status: "paused", ending: { status: "failed", error: { code: "EXECUTION_TIMED_OUT" } } });
    expect(explain(undoing, engine.workflow).sentence).toMatch(/^Failed at ask: Execution "x" had to end by .*being undone/);
    const later = await at(99 * minuteMs, undoing);
    expect(later.version).toBe(undoing.version);
    expect(await engine.execute({ snapshot: later, externalPayload: { approved: true } })).toMatchObject(timedOut);
  });

  it("ends at once also with onFailure finish, and what waits in other branches with it", async () => {
    const { engine, done, at } = engineOf(
      flow("w", { f: "say", ask: "approval", pause: ["wait", { for: "5m" }], then: "say" }, ["f>ask", "f>pause", "pause>then"], {
        timeout: "10m",
        onFailure: "finish",
      }),
    );
    const waiting = await engine.execute({ workflowId: "x" });
    // the timer was due before the deadline and fires; the step after it would run past the deadline and is not performed
    expect(await at(20 * minuteMs, waiting)).toMatchObject({ ...timedOut, version: waiting.version + 2 });
    expect(done).toEqual(["f"]);
  });

  it("takes no answer after its deadline", async () => {
    const { engine, clock } = engineOf(asking({ timeout: "10m" }));
    const waiting = await engine.execute({ workflowId: "x" });
    clock.set(begins + 10 * minuteMs);
    const answer = engine.send(waiting, { type: "resume", payload: { approved: true } });
    await expect(answer).rejects.toMatchObject({ code: "WAIT_EXPIRED", details: { timeoutAt: begins + 10 * minuteMs } });
    expect(await engine.execute({ snapshot: waiting })).toMatchObject(timedOut);
  });

  it("cannot be ended too early by an event, nor twice", async () => {
    const { engine, at } = engineOf(asking({ timeout: "10m" }));
    const waiting = await engine.execute({ workflowId: "x" });
    const expired = (snapshot: Snapshot, ms: number, scope?: string): Event => ({
      ...{ type: "expired", version: snapshot.version + 1, at: begins + ms },
      ...(scope !== undefined && { scope }),
    });
    expect(apply(engine.workflow, waiting, expired(waiting, 10 * minuteMs - 1))).toBe(waiting);
    expect(apply(engine.workflow, waiting, expired(waiting, 10 * minuteMs, "0#1"))).toBe(waiting);
    const late = await at(10 * minuteMs, waiting);
    expect(apply(engine.workflow, late, expired(late, 11 * minuteMs))).toBe(late);
    const free = await engineOf(asking()).engine.execute({ workflowId: "x" });
    expect(apply(engineOf(asking()).engine.workflow, free, expired(free, 10 * minuteMs))).toBe(free);
  });

  it("is told of: until when, and what comes then", async () => {
    const { engine, at } = engineOf(asking({ timeout: "10m" }));
    const waiting = await engine.execute({ workflowId: "x" });
    const deadline = "1970-01-01T00:26:40.000Z";
    const told = explain(waiting, engine.workflow);
    expect(told.sentence).toBe(`ask waits for an answer. It fails if it has not ended by ${deadline}.`);
    expect(told.next).toEqual({
      address: "",
      at: begins + 10 * minuteMs,
      sentence: `At ${deadline} the execution fails, unless it has ended.`,
    });
    expect(explain(await at(10 * minuteMs, waiting)).sentence).toBe(
      `Failed at ask: Execution "x" had to end by ${deadline} (EXECUTION_TIMED_OUT).`,
    );
  });
});

describe("a workflow with a timeout that is run inside another one", () => {
  const inner = { id: "inner", nodes: [{ id: "ask", type: "approval" }], edges: [], timeout: "{{ input.for }}" };
  const around = (whole: object, more: object = {}): object => ({
    id: "w",
    nodes: [
      { id: "whole", type: "workflow", data: { workflow: "inner", input: { for: "10m" } }, ...whole },
      { id: "after", type: "say" },
    ],
    edges: [{ source: "whole", target: "after", sourceHandle: "error" }],
    workflows: { inner },
    ...more,
  });

  it("fails in time, and the node sees the failure of its sub-workflow", async () => {
    const { engine, done, at } = engineOf(around({}));
    const waiting = await engine.execute({ workflowId: "x" });
    expect(waiting).not.toHaveProperty("deadlineAt");
    expect(Object.values(waiting.childStates!)).toMatchObject([{ deadlineAt: begins + 10 * minuteMs }]);
    expect(explain(waiting, engine.workflow).next).toMatchObject({
      address: "whole",
      sentence: "At 1970-01-01T00:26:40.000Z whole fails, unless it has ended.",
    });
    expect(await at(10 * minuteMs - 1, waiting)).toMatchObject({ status: "paused" });
    const late = await at(10 * minuteMs, waiting);
    expect(late).toMatchObject({ status: "completed", context: { whole: [{ output: { code: "EXECUTION_TIMED_OUT", nodeId: "whole" } }] } });
    expect(late.context.whole![0]!.error).toBe('Sub-workflow "inner" of execution "x" had to end by 1970-01-01T00:26:40.000Z');
    expect(done).toEqual(["after"]);
  });

  it("has its whole time again at each attempt of its node", async () => {
    const retryPolicy = { maxAttempts: 2, interval: "5m", backoff: "fixed" };
    const { engine, at } = engineOf(around({ retryPolicy }));
    const first = await at(10 * minuteMs, await engine.execute({ workflowId: "x" }));
    expect(first).toMatchObject({ status: "error", retryState: { nextRetryAt: begins + 15 * minuteMs } });
    const second = await at(16 * minuteMs, first);
    expect(Object.values(second.childStates!)).toMatchObject([{ deadlineAt: begins + 26 * minuteMs }]);
    expect(await at(26 * minuteMs, second)).toMatchObject({ status: "completed", context: { whole: [{ attempt: 1 }, { attempt: 2 }] } });
  });

  it("ends with the execution around it, if that must end first", async () => {
    const { engine, at } = engineOf(around({}, { timeout: "5m" }));
    expect(await at(5 * minuteMs, await engine.execute({ workflowId: "x" }))).toMatchObject({ ...timedOut, currentNodeId: "whole" });
  });

  it("takes no answer after its deadline, and of two that are over at the same moment the inner one goes first", async () => {
    const { engine, clock } = engineOf(around({}, { timeout: "10m" }));
    const waiting = await engine.execute({ workflowId: "x" });
    clock.set(begins + 10 * minuteMs);
    const answer = engine.send(waiting, { type: "resume", target: "whole/ask", payload: { approved: true } });
    await expect(answer).rejects.toMatchObject({ code: "WAIT_EXPIRED" });
    const scopes: unknown[] = [];
    for await (const { event } of engine.stream({ snapshot: waiting })) scopes.push([event.type, "scope" in event ? event.scope : ""]);
    expect(scopes).toEqual([
      ["expired", "0#1"],
      ["expired", ""],
    ]);
  });

  it("counts for each item of a map from when the item begins, and an item that was too slow has failed", async () => {
    const map = { id: "each", type: "map", data: { workflow: "inner", items: [{ for: "10m" }, { for: "1h" }], toleratedFailures: 1 } };
    const { engine, at } = engineOf({ id: "w", nodes: [map], edges: [], workflows: { inner } });
    const waiting = await engine.execute({ workflowId: "x" });
    const late = await at(10 * minuteMs, waiting);
    expect(late.activePaths[0]?.children?.map).toMatchObject({ failed: 1, done: 0, total: 2 });
    expect(await at(60 * minuteMs, late)).toMatchObject({ status: "failed", error: { code: "MAP_FAILED" } });
  });

  it("fails its node if the timeout cannot be told", async () => {
    const { engine } = engineOf(around({ data: { workflow: "inner", input: { for: "soon" } } }));
    expect(await engine.execute({ workflowId: "x" })).toMatchObject({
      status: "completed",
      context: { whole: [{ output: { code: "DURATION_INVALID" } }] },
    });
  });
});
