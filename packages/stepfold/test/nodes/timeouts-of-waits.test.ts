import { describe, expect, it } from "vitest";
import type { Edge, Node } from "../../src/core/definition/definition.ts";
import type { Json } from "../../src/core/values/json.ts";
import type { NodeDefinition } from "../../src/engine/node/node-definition.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { VirtualEnvironment } from "../engine/virtual-environment.fixture.ts";

const minute = 60_000;
const hour = 60 * minute;

const leaving = (handle: string): Edge => ({ source: "n", target: handle, sourceHandle: handle });
const edges = [leaving("timeout"), leaving("error")];

/** The engine of one node and of what follows it, and its virtual clock. */
function engineOf(
  node: Partial<Node>,
  more: readonly Edge[] = edges,
  own: Readonly<Record<string, NodeDefinition>> = {},
): { engine: WorkflowEngine; clock: VirtualEnvironment } {
  const clock = new VirtualEnvironment();
  const targets = [...new Set(more.map(({ target }) => target))];
  const nodes = [{ id: "n", ...node }, ...targets.map((id) => ({ id, type: "set", data: { left: id, got: "{{ $json }}" } }))];
  const workflow = { id: "w", nodes, edges: [...more] };
  return { engine: new WorkflowEngine({ workflow, nodeDefinitions: { ...builtinNodes, ...own }, environment: clock }) as never, clock };
}

const waiting: readonly (readonly [string, Json])[] = [
  ["approval", { title: "Ship it?" }],
  ["signal", { name: "paid" }],
  [
    "race",
    {
      signals: [
        { name: "paid", handle: "done" },
        { name: "revoked", handle: "done" },
      ],
    },
  ],
  ["race", { signals: [{ name: "paid", handle: "done" }], timer: { for: "3h", handle: "done" } }],
  ["wait", { for: "3h" }],
];

describe("the timeout of a node that waits", () => {
  it.each(waiting)("ends a wait of type %s %j by the edge timeout, when it is over and not before", async (type, data) => {
    const { engine, clock } = engineOf({ type, data, timeout: "1h" }, [...edges, leaving("done")]);
    const paused = await engine.execute({});
    expect(paused).toMatchObject({ status: "paused" });
    await clock.advance(hour - 1);
    expect(await engine.execute({ snapshot: paused })).toMatchObject({ status: "paused" });
    await clock.advance(1);
    expect(await engine.execute({ snapshot: paused })).toMatchObject({ status: "completed", output: { left: "timeout" } });
  });

  it.each(waiting)("takes the edge error of a node of type %s %j, or fails it, if there is no edge timeout", async (type, data) => {
    for (const [some, expected] of [
      [[leaving("error"), leaving("done")], { status: "completed", output: { left: "error", got: { code: "WAIT_TIMEOUT" } } }],
      [[leaving("done")], { status: "failed", error: { code: "WAIT_TIMEOUT" } }],
    ] as const) {
      const { engine, clock } = engineOf({ type, data, timeout: "1h" }, some);
      const paused = await engine.execute({});
      await clock.advance(hour);
      expect(await engine.execute({ snapshot: paused })).toMatchObject(expected);
    }
  });

  it.each([
    ["approval", {}],
    ["signal", { name: "paid" }],
  ])("counts if it is shorter than the timeout in the data of a node of type %s, and the other one if not", async (type, data) => {
    for (const [own, inData, endsAfter] of [
      ["1h", "3h", hour],
      ["3h", "1h", hour],
      ["1h", undefined, hour],
    ] as const) {
      const { engine, clock } = engineOf({ type, data: inData === undefined ? data : { ...data, timeout: inData }, timeout: own });
      const paused = await engine.execute({});
      await clock.advance(endsAfter - 1);
      expect(await engine.execute({ snapshot: paused })).toMatchObject({ status: "paused" });
      await clock.advance(1);
      expect(await engine.execute({ snapshot: paused })).toMatchObject({ output: { left: "timeout" } });
    }
  });

  it.each(waiting)("is none by default: a wait of type %s %j outlives the ten minutes of an attempt", async (type, data) => {
    const { engine, clock } = engineOf({ type, data }, [...edges, leaving("done")]);
    const paused = await engine.execute({});
    await clock.advance(2 * hour);
    expect(await engine.execute({ snapshot: paused })).toMatchObject({ status: "paused" });
  });

  it("does not shorten a wait that is over before, nor an answer in time", async () => {
    const short = engineOf({ type: "wait", data: { for: "15m" }, timeout: "1h" }, [...edges, { source: "n", target: "after" }]);
    const paused = await short.engine.execute({ input: 1 });
    expect(paused.activePaths[0]?.waits?.[0]).not.toHaveProperty("timeoutAt");
    await short.clock.advance(15 * minute);
    expect(await short.engine.execute({ snapshot: paused })).toMatchObject({ status: "completed", output: { left: "after" } });
    const asked = engineOf({ type: "approval", timeout: "1h" }, [...edges, leaving("approved")]);
    const open = await asked.engine.execute({});
    await asked.clock.advance(hour - 1);
    expect(await asked.engine.execute({ snapshot: open, externalPayload: { approved: true } })).toMatchObject({
      output: { left: "approved" },
    });
  });

  it("may be an expression, which must give a time", async () => {
    const { engine, clock } = engineOf({ type: "approval", timeout: "{{ input.hours * 2 }}h" });
    const paused = await engine.execute({ input: { hours: 1 } });
    await clock.advance(2 * hour);
    expect(await engine.execute({ snapshot: paused })).toMatchObject({ output: { left: "timeout" } });
    const lost = engineOf({ type: "approval", timeout: "{{ input.within }}" }, []);
    expect(await lost.engine.execute({ input: {} })).toMatchObject({ status: "failed", error: { code: "DATA_INVALID" } });
  });
});

describe("the timeout of a node of one's own type", () => {
  const asking: NodeDefinition = { executor: (_, step) => (step.externalPayload === undefined ? step.suspend() : { data: 1 }) };
  const hanging: NodeDefinition = { executor: () => new Promise(() => undefined) };

  it("limits an attempt, and not the wait of a step that suspends", async () => {
    const { engine, clock } = engineOf({ type: "own", timeout: "1h" }, edges, { own: asking });
    const paused = await engine.execute({});
    await clock.advance(2 * hour);
    expect(await engine.execute({ snapshot: paused })).toMatchObject({ status: "paused" });
  });

  it("lets the path leave by the edge timeout, else by error, else the step fails", async () => {
    for (const [some, expected] of [
      [edges, { status: "completed", output: { left: "timeout", got: null } }],
      [[leaving("error")], { status: "completed", output: { left: "error", got: { code: "STEP_TIMEOUT" } } }],
      [[], { status: "failed", error: { code: "STEP_TIMEOUT" } }],
    ] as const) {
      const { engine, clock } = engineOf({ type: "own", timeout: "1h" }, some, { own: hanging });
      const running = engine.execute({});
      await clock.advance(hour);
      expect(await running).toMatchObject(expected);
    }
  });

  it("is tried again first, if a policy says so", async () => {
    const retryPolicy = { maxAttempts: 2, interval: "1s", backoff: "fixed" } as const;
    const { engine, clock } = engineOf({ type: "own", timeout: "1h", retryPolicy }, edges, { own: hanging });
    const first = engine.execute({});
    await clock.advance(hour);
    const failed = await first;
    expect(failed).toMatchObject({ status: "error" });
    await clock.advance(1_000);
    const second = engine.execute({ snapshot: failed });
    await clock.advance(hour);
    expect(await second).toMatchObject({ output: { left: "timeout" } });
  });

  it("is a limit of the wait where the type says that it only waits", async () => {
    const { engine, clock } = engineOf({ type: "own", timeout: "1h" }, edges, { own: { ...asking, waits: true } });
    const paused = await engine.execute({});
    await clock.advance(hour);
    expect(await engine.execute({ snapshot: paused })).toMatchObject({ output: { left: "timeout" } });
  });
});
