import { describe, expect, it } from "vitest";
import type { WorkflowDefinition } from "../../../src/core/definition/definition.ts";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import type { Command } from "../../../src/engine/commands/command.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { closeAll, setUp } from "../../runtime/runtime.fixture.ts";
import { workflow } from "../cancelling.fixture.ts";

const engineOf = (definition: WorkflowDefinition): WorkflowEngine<typeof builtinNodes> =>
  new WorkflowEngine({ workflow: definition, nodeDefinitions: builtinNodes });

const book = { type: "noop", compensate: { type: "noop" } } as const;
const inner = workflow("inner", { book, ask: "approval" }, ["book>ask"]);
const sub = { type: "workflow", data: { workflow: "inner" } };
const items = { type: "map", data: { workflow: "inner", items: [1, 2] } };
const around = (nodes: Parameters<typeof workflow>[1], edges: readonly string[]): WorkflowDefinition =>
  workflow("w", { f: "noop", ok: "approval", other: "approval", ...nodes }, ["f>ok", "f>other", "f>part", ...edges], {
    workflows: { inner },
  });

interface Case {
  readonly what: string;
  readonly definition: WorkflowDefinition;
  /** The command that ends the part early. */
  readonly command: Command;
  /** How many times the node "book" has completed. */
  readonly booked: number;
}

const yes = { approved: true };
const cancelled: Command = { type: "cancel", target: "part" };
const approved: Command = { type: "resume", target: "ok", payload: yes };

/** Sends the command, cancels the whole execution after it, and returns the compensations. */
async function undone({ definition, command }: Case): Promise<Snapshot["compensations"]> {
  const engine = engineOf(definition);
  const after = await engine.execute({ snapshot: await engine.send(await engine.execute({}), command) });
  const { status, compensations } = await engine.execute({ snapshot: await engine.send(after, { type: "cancel" }) });
  expect(status).toBe("cancelled");
  return compensations;
}

describe("what a part of an execution has done before it was cancelled is undone with the rest", () => {
  it.each<Case>([
    { what: "on a path", definition: around({ book, part: "approval" }, ["f>book", "book>part"]), command: cancelled, booked: 1 },
    {
      what: "in an item that is cancelled",
      definition: around({ part: items }, []),
      command: { type: "cancel", target: { node: "part", item: 0 } },
      booked: 2,
    },
    {
      what: "in a sub-workflow whose path is cancelled",
      definition: around({ part: sub }, []),
      command: { type: "cancel", target: "part/ask" },
      booked: 1,
    },
  ])("$what", async (part) => {
    expect(await undone(part)).toHaveLength(part.booked);
  });

  // Each case ends a child that is still open. The child has to be kept, because otherwise its bookings could never be undone.
  it.each<Case>([
    { what: "a sub-workflow that is cancelled", definition: around({ part: sub }, []), command: cancelled, booked: 1 },
    { what: "a map that is cancelled", definition: around({ part: items }, []), command: cancelled, booked: 2 },
    {
      what: "a map that is completed early",
      definition: around({ part: items }, []),
      command: { type: "completeMap", node: "part" },
      booked: 2,
    },
    {
      what: "an item that a map no longer needs",
      definition: around({ part: { ...items, data: { ...items.data, completeWhen: 1 } } }, []),
      command: { type: "resume", target: { node: "part", item: 0 }, payload: yes },
      booked: 2,
    },
    {
      what: "a sub-workflow that a node cancels",
      definition: around({ part: sub, boss: { type: "noop", cancels: ["part"] } }, ["ok>boss@approved"]),
      command: approved,
      booked: 1,
    },
    {
      what: "a sub-workflow that comes too late for its join",
      definition: around({ part: sub, j: { type: "noop", join: 1, late: "cancel" } }, ["ok>j@approved", "part>j"]),
      command: approved,
      booked: 1,
    },
  ])("by $what", async (part) => {
    expect(await undone(part)).toHaveLength(part.booked);
  });
});

describe("a cancellation of what is being undone already", () => {
  const undoing = workflow(
    "undoing",
    { book: { type: "noop", compensate: { type: "approval" } }, broken: { type: "fail", data: { message: "no" } } },
    ["book>broken"],
  );
  const listed = workflow("w", { list: { type: "map", data: { workflow: "undoing", items: ["a", "b"] } } }, [], { workflows: { undoing } });
  const targets: NonNullable<(Command & { readonly type: "cancel" })["target"]>[] = [{ node: "list", item: 0 }, "list[0]/book"];

  it("of the whole execution is refused", async () => {
    const engine = engineOf(undoing);
    const snapshot = await engine.execute({});
    expect(snapshot).toMatchObject({ status: "paused", ending: { status: "failed" } });
    await expect(engine.send(snapshot, { type: "cancel" })).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
  });

  // The item is being undone already. The command is refused or adds one version: no event may be made that the fold ignores.
  it.each(targets)("of one item is refused too, or does something: %j", async (target) => {
    const engine = engineOf(listed);
    const snapshot = await engine.execute({});
    const telling = engine.send(snapshot, { type: "cancel", target });
    const verdict = await telling.then(
      ({ version }) => version - snapshot.version,
      (error: { readonly code?: string }) => error.code,
    );
    expect([1, "EXECUTION_ENDED", "WAIT_GONE"]).toContain(verdict);
  });

  // An event that the fold ignores would be committed at the old version, and the store would refuse each try with VERSION_CONFLICT.
  it("of one stored item does not tell of a conflict that there is not", async () => {
    const { runtime, environment } = setUp({ workflows: [listed], nodeDefinitions: builtinNodes });
    const run = await runtime.start("w", { workflowId: "w" });
    await environment.settle();
    const verdict = await run.cancel({ step: "list", item: 0 }).then(
      () => "done",
      (error: { readonly code?: string }) => error.code,
    );
    closeAll();
    expect(verdict).not.toBe("VERSION_CONFLICT");
  });

  // The cancellation of the map must not drop the items whose steps are being undone.
  it("of the map around it does not stop the undoing", async () => {
    const engine = engineOf(listed);
    const cancelled = await engine.send(await engine.execute({}), { type: "cancel", target: "list" });
    expect(cancelled.status).not.toBe("completed");
  });
});

describe("a sub-workflow that undoes what it did", () => {
  const undoing = workflow(
    "undoing",
    { book: { type: "noop", compensate: { type: "approval" } }, broken: { type: "fail", data: { message: "no" } } },
    ["book>broken"],
  );
  const definition = workflow(
    "w",
    { f: "noop", ok: "approval", sub: { type: "workflow", data: { workflow: "undoing" } }, j: { type: "noop", join: 1, late: "cancel" } },
    ["f>ok", "f>sub", "ok>j@approved", "sub>j"],
    { workflows: { undoing } },
  );

  it("goes on with that when nobody waits for it any more, and the execution is over when it has", async () => {
    const engine = engineOf(definition);
    const fired = await engine.execute({ snapshot: await engine.execute({}), target: "ok", externalPayload: yes });
    expect(fired).toMatchObject({
      status: "paused",
      activePaths: [{ nodeId: "sub", draining: true }],
      context: { j: [{ output: { approved: true } }] },
    });
    const undone = await engine.execute({
      snapshot: JSON.parse(JSON.stringify(fired)) as object,
      target: "sub/book",
      externalPayload: yes,
    });
    expect(undone).toMatchObject({ status: "completed", compensations: [{ nodeId: "book" }] });
    expect(undone).not.toHaveProperty("childStates");
  });
});

describe("a cancellation at a node whose name a sub-workflow uses too", () => {
  const same = workflow("same", { approve: "approval" });
  const twice = workflow(
    "w",
    { f: "noop", approve: "approval", sub: { type: "workflow", data: { workflow: "same" } } },
    ["f>approve", "f>sub"],
    {
      workflows: { same },
    },
  );

  it("is possible inside, by the address", async () => {
    const engine = engineOf(twice);
    const { activePaths } = await engine.send(await engine.execute({}), { type: "cancel", target: "sub/approve" });
    expect(activePaths.map(({ nodeId }) => nodeId)).toEqual(["approve"]);
  });

  // "approve" is the address of the outer node and also the id of the inner node. The address has precedence, so it is not ambiguous.
  it("is possible outside, by the address, which is the node's id", async () => {
    const engine = engineOf(twice);
    const { activePaths } = await engine.send(await engine.execute({}), { type: "cancel", target: "approve" });
    expect(activePaths.map(({ nodeId }) => nodeId)).toEqual(["sub"]);
  });
});
