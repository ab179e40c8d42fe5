import { afterEach, describe, expect, it } from "vitest";
import type { WorkflowDefinition } from "../../../src/core/definition/definition.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { workflowNode } from "../../../src/nodes/workflow.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, line, nodeDefinitions, restartAndForkInLine, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const rateLimit = { limit: 1, period: "60s", key: "bank" };

/** A runtime whose executions may begin once in a minute. `begun` has the ids of those that have begun, with the second. */
function setUpLine() {
  const begun: (readonly [id: string, atSecond: number])[] = [];
  const environment = virtualEnvironment();
  const from = environment.now();
  const note = defineNode({
    executor: (_data, { workflowId }) => {
      begun.push([workflowId, Math.floor((environment.now() - from) / second)]);
      return { data: "done" };
    },
  });
  const parent: WorkflowDefinition = {
    id: "parent",
    nodes: [{ id: "child", type: "workflow", data: { workflow: "brief", detached: true, workflowId: "{{ input.id }}-child" } }],
    edges: [],
  };
  const workflows: WorkflowDefinition[] = [
    { ...line("patient", "note"), rateLimit },
    { ...line("brief", "note"), rateLimit, timeout: "5s" },
    { ...line("tidy", "note", "say"), rateLimit, timeout: "5s", finally: "say1", edges: [] },
    { ...line("both", "note"), rateLimit, concurrency: { key: "k", limit: 1 }, timeout: "5s" },
    parent,
  ];
  return { ...setUp({ workflows, nodeDefinitions: { ...nodeDefinitions, note, workflow: workflowNode } }, environment), begun };
}

describe("an execution in the line of a rate", () => {
  it("fails when its deadline passes, and counts for nothing: the next one begins when there is room", async () => {
    const { environment, runtime, begun } = setUpLine();
    await runtime.start("patient", { workflowId: "first" });
    const brief = await runtime.start("brief", { workflowId: "brief" });
    await runtime.start("patient", { workflowId: "next" });
    await environment.advance(4 * second);
    expect((await brief.snapshot()).status).toBe("active");
    await environment.advance(2 * second);
    expect(await brief.snapshot()).toMatchObject({ status: "failed", error: { code: "EXECUTION_TIMED_OUT" } });
    await environment.advance(57 * second);
    expect(begun).toEqual([
      ["first", 0],
      ["next", 60],
    ]);
  });

  it("fails in time with a concurrency key as well, and runs what closes it", async () => {
    const { environment, runtime, begun } = setUpLine();
    await runtime.start("patient", { workflowId: "first" });
    const both = await runtime.start("both", { workflowId: "both" });
    const tidy = await runtime.start("tidy", { workflowId: "tidy" });
    await environment.advance(7 * second);
    for (const run of [both, tidy])
      expect(await run.snapshot()).toMatchObject({ status: "failed", error: { code: "EXECUTION_TIMED_OUT" } });
    expect(Object.keys((await tidy.snapshot()).context)).toEqual(["say1"]);
    expect(begun.map(([id]) => id)).toEqual(["first"]);
  });

  it("tells its parent of its end, by a deadline or a cancellation", async () => {
    const { environment, runtime, begun } = setUpLine();
    await runtime.start("patient", { workflowId: "first" });
    const late = await runtime.start("parent", { workflowId: "late", input: { id: "late" } });
    const cancelled = await runtime.start("parent", { workflowId: "cancelled", input: { id: "cancelled" } });
    await environment.advance(2 * second);
    await cancelled.cancel();
    await environment.advance(1.5 * second);
    expect((await cancelled.snapshot()).status).toBe("cancelled");
    expect((await (await runtime.get("cancelled-child")).snapshot()).status).toBe("cancelled");
    await environment.advance(4 * second);
    expect(await late.snapshot()).toMatchObject({ status: "failed" });
    expect(begun.map(([id]) => id)).toEqual(["first"]);
  });

  it("waits in the line again after a restart and in a fork, until its new deadline", async () => {
    const { environment, runtime, begun } = setUpLine();
    await runtime.start("patient", { workflowId: "first" });
    const brief = await runtime.start("brief", { workflowId: "brief" });
    await restartAndForkInLine(brief, environment);
    await environment.advance(60 * second);
    expect(begun.map(([id]) => id)).toEqual(["first"]);
    await brief.restart();
    await environment.advance(2 * second);
    expect((await brief.snapshot()).status).toBe("completed");
  });
});
