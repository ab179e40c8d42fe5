import { describe, expect, it } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import type { Command } from "../../src/engine/commands/command.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { workflow } from "../engine/cancelling.fixture.ts";
import { engineOf, failing, giving, viaJson } from "../engine/engine.fixture.ts";
import { afterTheEnd, endings, nodeDefinitions, refusals, waiting } from "./refusals.fixture.ts";

/** Returns the error with which a call is refused. */
async function refused(telling: Promise<unknown>): Promise<StepfoldError> {
  const thrown = await telling.then(
    () => null,
    (error: unknown) => error,
  );
  if (!StepfoldError.is(thrown)) expect.fail(`refused with no StepfoldError, but ${String(thrown)}`);
  return thrown;
}

const ended: Readonly<Record<string, () => Promise<readonly [ReturnType<typeof engineOf>["engine"], Snapshot]>>> = {
  async completed() {
    const { engine } = engineOf({ ask: giving(1) });
    return [engine, await engine.execute({})];
  },
  async failed() {
    const { engine } = engineOf({ ask: failing() });
    return [engine, await engine.execute({})];
  },
  async cancelled() {
    const { engine } = engineOf({ ask: (_data, step) => step.suspend() });
    return [engine, await engine.send(await engine.execute({}), { type: "cancel" })];
  },
};

describe("an execution that waits refuses", () => {
  it.each(refusals)("$what, by $code, and stays as it is", async ({ command, code, says }) => {
    const { engine, snapshot } = await waiting();
    const given = viaJson(snapshot);
    const error = await refused(engine.send(given, command));
    expect(error.code).toBe(code);
    for (const words of says) expect(error.message).toContain(words);
    expect(error.message.length).toBeLessThan(1_000);
    expect(given).toEqual(viaJson(snapshot));
    // a snapshot object that this engine made itself is not read again, and is refused in the same way
    expect((await refused(engine.send(snapshot, command))).code).toBe(code);
    expect(viaJson(snapshot)).toEqual(given);
  });

  it("and can still be told what is right", async () => {
    const { engine, snapshot } = await waiting();
    for (const { command } of refusals) await refused(engine.send(snapshot, command));
    const right: Command[] = [
      { type: "resume", target: "ask", payload: { approved: true } },
      { type: "resume", target: "team", payload: { approved: true }, by: "bob" },
      { type: "resume", target: { node: "list", item: 0 }, payload: { approved: true } },
      { type: "signal", name: "paid", payload: { amount: 1 } },
      { type: "addItem", node: "list", item: 2 },
      { type: "closeMap", node: "list" },
      { type: "completeMap", node: "fixed" },
      { type: "cancel", target: { node: "shut", item: 0 } },
      { type: "retry", node: "flaky" },
      { type: "cancel" },
    ];
    for (const command of right) expect((await engine.send(snapshot, command)).version).toBe(snapshot.version + 1);
  });

  it("a resume by execute as it refuses one by send", async () => {
    const { engine, snapshot } = await waiting();
    const before = viaJson(snapshot);
    for (const { command, code } of refusals) {
      if (command.type !== "resume" || command.by !== undefined) continue;
      const { target, payload: externalPayload } = command;
      expect((await refused(engine.execute({ snapshot, target, externalPayload }))).code).toBe(code);
    }
    expect(viaJson(snapshot)).toEqual(before);
  });
});

describe("an execution that waits for nobody refuses", () => {
  it.each<[string, Command, string]>([
    ["any answer", { type: "resume" }, "WAIT_GONE"],
    ["an answer to where it stands", { type: "resume", target: "try" }, "WAIT_GONE"],
  ])("%s", async (_, command, code) => {
    const { engine } = engineOf({ try: { retryPolicy: { maxAttempts: 2, interval: 9, backoff: "fixed" }, executor: failing() } });
    const error = await refused(engine.send(await engine.execute({ workflowId: "w" }), command));
    expect([error.code, error.message]).toEqual([code, expect.stringContaining("Open waits: none")]);
  });
});

describe("what is told to an execution that has ended", () => {
  it.each(endings)("%s is refused, and nothing is changed", async (status) => {
    const [engine, snapshot] = await ended[status]!();
    expect(snapshot.status).toBe(status);
    const before = viaJson(snapshot);
    for (const command of afterTheEnd) {
      for (const given of [snapshot, viaJson(snapshot)]) {
        const error = await refused(engine.send(given, command));
        expect([error.code, error.details]).toEqual(["EXECUTION_ENDED", { workflowId: snapshot.workflowId, status }]);
        expect(viaJson(given)).toEqual(before);
      }
    }
  });
});

describe("a refusal", () => {
  const cells = workflow("cells", { cells: { type: "map", data: { workflow: "cell", items: ["a"], open: true } } });
  const rows = workflow("rows", { rows: { type: "map", data: { workflow: "cells", items: [1, 2] } } }, [], {
    workflows: { cells, cell: workflow("cell", { pick: "approval" }) },
  });

  it.each<Command>([
    { type: "resume", target: "pick", payload: { approved: true } },
    { type: "cancel", target: "pick" },
    { type: "cancel", target: "cells" },
    { type: "addItem", node: "cells", item: "b" },
    { type: "closeMap", node: "cells" },
  ])("of what is ambiguous changes nothing and lists all that may be meant: %j", async (command) => {
    const engine = new WorkflowEngine({ workflow: rows, nodeDefinitions });
    const snapshot = await engine.execute({});
    const error = await refused(engine.send(snapshot, command));
    expect(error).toMatchObject({ code: "RESUME_AMBIGUOUS", details: { waits: [{}, {}] } });
  });

  it("of an ambiguous answer lists names that can be used", async () => {
    await expect(followed({ type: "resume", target: "pick", payload: { approved: true } })).resolves.toHaveLength(4);
  });

  // Each id and each node in the details of the error has to be a target that names exactly one place.
  it.each<Command>([
    { type: "cancel", target: "pick" },
    { type: "cancel", target: "cells" },
    { type: "addItem", node: "cells", item: "b" },
    { type: "closeMap", node: "cells" },
  ])("of an ambiguous command lists names that can be used: %j", async (command) => {
    await expect(followed(command)).resolves.toHaveLength(4);
  });

  /** Follows the refusal: sends the command again with each of the names that the refusal lists. */
  async function followed(command: Command): Promise<Snapshot[]> {
    const engine = new WorkflowEngine({ workflow: rows, nodeDefinitions });
    const snapshot = await engine.execute({});
    const error = await refused(engine.send(snapshot, command));
    if (!StepfoldError.is(error, "RESUME_AMBIGUOUS")) expect.fail(error.message);
    const named = error.details.waits.flatMap(({ id, nodeId }) => [id, nodeId]);
    return Promise.all(
      named.map((name) =>
        engine.send(snapshot, "node" in command ? { ...command, node: name } : ({ ...command, target: name } as Command)),
      ),
    );
  }

  // Another node has a retry pending, so the message has to name the node of the command.
  it("of a retry names the node that has none", async () => {
    const { engine, snapshot } = await waiting();
    expect((await refused(engine.send(snapshot, { type: "retry", node: "ask" }))).message).toContain("ask");
  });

  // A person who is asked by e-mail knows the node "team" and not the id of the wait, so the message has to name the node.
  it("of a person names the node that asked", async () => {
    const { engine, snapshot } = await waiting();
    const answer: Command = { type: "resume", target: "team", payload: { approved: true }, by: "eve" };
    expect((await refused(engine.send(snapshot, answer))).message).toContain("team");
  });
});
